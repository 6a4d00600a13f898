package startup

import (
	"encoding/csv"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

// valueTypes says what the types of kube-apiserver's flags refuse, by what pflag calls them. A type that is missing
// takes any text. Most are pflag's own; what the numbers of a list are said to be is what Go's strconv reads with base
// 0.
var valueTypes = map[string]func(value string, binary release.Release) (reason string){
	"bool":           oneReason("is neither true nor false", parses(strconv.ParseBool)),
	"int":            oneReason("is not a whole number", isInteger),
	"int64":          oneReason("is not a whole number", isInteger),
	"uint":           oneReason("is not a whole number of 0 or more", isUnsigned),
	"float32":        oneReason("is not a number", isFloat(32)),
	"float64":        oneReason("is not a number", isFloat(64)),
	"duration":       oneReason("is not a duration with a unit, such as 30s or 1h30m", parses(time.ParseDuration)),
	"int32Slice":     oneReason("is not a list of whole numbers, separated by commas", isIntegers),
	"stringSlice":    oneReason(badList, parses(release.SplitList)),
	"stringToString": oneReason("is not a list of key=value, separated by commas", isPairs),
	"quantity":       oneReason("is not a quantity, such as 512Ki or 1M", parses(resource.ParseQuantity)),
	"portRange":      oneReason("is not a range of ports up to 65535, such as 30000-32767", isPortRange),
	"namedCertKey":   oneReason("is not of the form CERTIFICATE,KEY or CERTIFICATE,KEY:NAME,...", isCertKey),
	"Level":          oneReason("is not a whole number of 0 or more", isLevel),
	"pattern=N,...":  oneReason("is not a list of pattern=N, separated by commas", isPatterns),
	"ip": func(value string, binary release.Release) string {
		if _, ok := release.ParseIPFlag(value, binary); ok {
			return ""
		}
		return "is not an IP address"
	},
	// Of k8s.io/component-base/version/verflag: besides a bool it takes the server's own version with another suffix.
	"version": func(value string, binary release.Release) string {
		if strings.HasPrefix(value, "v") {
			v, err := version.ParseSemantic(value)
			if err != nil || v.Major() != 1 || int(v.Minor()) != binary.Minor() {
				return "is not the version of the server"
			}
			return "" // its patch release is not known for sure
		}
		if _, err := strconv.ParseBool(value); err == nil || value == "raw" {
			return "" // of several the last one counts: see serviceChecks
		}
		return "is neither true, false nor raw"
	},
}

const badList = "is not a list separated by commas: a quotation mark stands where none may"

// refusedByType says why the type of a flag refuses a value, "" where it does not.
func refusedByType(f release.Flag, value string, binary release.Release) string {
	if f.Name == "oidc-required-claim" {
		// One pair for each flag; the other flag of this type, runtime-config, takes anything.
		if !strings.Contains(value, "=") {
			return "is not of the form claim=value"
		}
		return ""
	}
	if refuses := valueTypes[f.Type]; refuses != nil {
		return refuses(value, binary)
	}
	return ""
}

func oneReason(reason string, takes func(value string) bool) func(string, release.Release) string {
	return func(value string, _ release.Release) string {
		if takes(value) {
			return ""
		}
		return reason
	}
}

// parses tells whether a function can read a text.
func parses[T any](parse func(string) (T, error)) func(string) bool {
	return func(v string) bool {
		_, err := parse(v)
		return err == nil
	}
}

func isFloat(bits int) func(string) bool {
	return func(v string) bool {
		_, err := strconv.ParseFloat(v, bits)
		return err == nil
	}
}

func isUnsigned(v string) bool {
	_, err := strconv.ParseUint(v, 0, 64)
	return err == nil
}

func isInteger(v string) bool {
	_, err := strconv.ParseInt(v, 0, 64)
	return err == nil
}

func isIntegers(v string) bool {
	return !slices.ContainsFunc(strings.Split(v, ","), func(item string) bool {
		_, err := strconv.ParseInt(item, 0, 32)
		return err != nil
	})
}

func isLevel(v string) bool {
	_, err := strconv.ParseUint(v, 10, 31)
	return err == nil
}

// isPatterns follows vmoduleConfigurationPFlag of k8s.io/component-base/logs/api/v1.
func isPatterns(v string) bool {
	return !slices.ContainsFunc(strings.Split(v, ","), func(item string) bool {
		pattern, level, ok := strings.Cut(item, "=")
		return item != "" && (!ok || pattern == "" || !isLevel(level))
	})
}

// isPairs follows pflag's stringToString.
func isPairs(v string) bool {
	_, ok := pairs(v)
	return ok
}

func pairs(v string) (map[string]string, bool) {
	items := []string{strings.Trim(v, `"`)}
	if strings.Count(v, "=") != 1 {
		var err error
		if items, err = csv.NewReader(strings.NewReader(v)).Read(); err != nil {
			return nil, false
		}
	}
	out := map[string]string{}
	for _, item := range items {
		key, value, ok := strings.Cut(item, "=")
		if !ok {
			return nil, false
		}
		out[key] = value
	}
	return out, true
}

// isCertKey follows NamedCertKey of k8s.io/component-base/cli/flag.
func isCertKey(v string) bool {
	files, names, named := strings.Cut(v, ":")
	return strings.Count(files, ",") == 1 && (!named || strings.TrimSpace(names) != "")
}

func isPortRange(v string) bool {
	_, _, ok := portRange(v)
	return ok
}

// portRange follows PortRange of k8s.io/apimachinery/pkg/util/net; nothing is the range of no port.
func portRange(v string) (low, high int, ok bool) {
	v = strings.TrimSpace(v)
	if v == "" {
		return 0, -1, true
	}
	first, second, hyphen := strings.Cut(v, "-")
	if !hyphen {
		first, second, _ = strings.Cut(v, "+")
	}
	plus := strings.Contains(v, "+")
	if hyphen && plus {
		return 0, 0, false
	}
	low, err := strconv.Atoi(first)
	if err != nil {
		return 0, 0, false
	}
	high = low
	if hyphen || plus {
		if high, err = strconv.Atoi(second); err != nil {
			return 0, 0, false
		}
	}
	if plus {
		high += low
	}
	return low, high, low <= high && high <= 65535
}
