package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// All returns the rules, sorted by their IDs.
func All() []*Rule {
	return []*Rule{
		unreadableAPIVersion,
		wrongExtraArgsShape,
		valueNotAString,
		duplicateKey,
		unknownField,
		unresolvedPlaceholder,
		unsupportedSkew,
		argumentIgnored,
		repeatedArgument,
		refusedDocument,
		uselessIgnore,
		gateOffOnRunning,
		gateOffOnTarget,
		peerFlagsStopStartUp,
		gateAmongKubeadmGates,
		malformedFeatureGates,
		misspeltGate,
		identityOff,
		emulationTurnsGateOff,
		gateOnWrongComponent,
		gateSetNeedlessly,
		gateThroughAllAlpha,
		unknownFlag,
		unknownGate,
		lockedGate,
		deprecatedSetting,
		badRuntimeConfig,
		badFlagValue,
		gateDependency,
		unreadableFile,
		peerCAMissing,
		peerCANotMounted,
		peerCAWrong,
		servingCertName,
		proxyClientCertMissing,
		requestheaderRefusesPeers,
		certificateExpiring,
		unreadableCertificate,
		peerCAPathMalformed,
		advertiseAddressUnusable,
		advertiseAddressShared,
		peerAdvertiseNoEffect,
		peerAdvertiseHalfSet,
		peerAdvertiseShared,
		invalidAddressValue,
		bindAddressUnreachable,
		portMismatch,
		singleNode,
		mixedAddressFamilies,
		proxiedPeerTraffic,
		egressSelector,
		manifestDrift,
		serversDisagree,
		commandNotReadable,
		secondManifest,
		patchReplacesCommand,
		upgradeIgnoresConfiguration,
		skippedControlPlanePhase,
		false404,
		mergedViewIncomplete,
		gateOffLive,
		noPeerProxyLive,
		peerNotTrusted,
		peerRefusesCaller,
		peerUnreachable,
		oneAddressForSeveral,
		publishedAddressDiffers,
		serverUnreachable,
		peerGone,
		legacyDiscoveryNotMerged,
		evidenceLimited,
		tooManyReleases,
		discoveryForbidden,
		sharedIdentity,
		nothingToProve,
		subresourceNotHandedOff,
	}
}

// Find returns the rule of an ID or a name; case does not count.
func Find(idOrName string) (*Rule, bool) {
	for _, r := range All() {
		if strings.EqualFold(r.ID, idOrName) || strings.EqualFold(r.Name, idOrName) {
			return r, true
		}
	}
	return nil, false
}

// Pairs returns the upgrades that a cluster's configuration is judged for, and why these. from and to are what the user
// asked for; the zero Release stands for nothing. Without a version anywhere it is every pair of neighbouring releases
// that mvpcheck knows.
func Pairs(c *config.Cluster, from, to release.Release) (pairs []Pair, why string, err error) {
	configured, source, err := configuredRelease(c)
	if err != nil {
		return nil, "", err
	}
	fromWhy, toWhy := "--from", "--to"
	if from.IsZero() {
		switch {
		case !configured.IsZero() && !to.IsZero() && configured.SameMinor(to):
			from, fromWhy = to.Prev(), fmt.Sprintf("%s is the target's minor, so the one before", source)
		case !configured.IsZero():
			from, fromWhy = configured, source
		case !to.IsZero():
			from, fromWhy = to.Prev(), "the minor before --to"
		default:
			return KnownPairs(), "no version known (" + source + ")", nil
		}
	}
	upgrade := true
	switch {
	case !to.IsZero():
		upgrade = !from.SameMinor(to)
	case from.SameMinor(release.Newest()):
		to, toWhy = release.Newest(), "the newest release that mvpcheck knows"
	default:
		to, toWhy = from.Next(), "the next minor"
	}
	return []Pair{{From: from, To: to, Upgrade: upgrade}}, fmt.Sprintf("from: %s; to: %s", fromWhy, toWhy), nil
}

// KnownPairs returns the upgrades between neighbouring releases that mvpcheck knows, oldest first.
func KnownPairs() []Pair {
	var all []Pair
	for r := release.Oldest(); r.Before(release.Newest()); r = r.Next() {
		all = append(all, Pair{From: r, To: r.Next(), Upgrade: true})
	}
	return all
}

// configuredRelease is the release that a configuration names, zero where it names none; source says where it stands.
func configuredRelease(c *config.Cluster) (r release.Release, source string, err error) {
	text, source := c.KubernetesVersion.Value, "kubernetesVersion"
	switch c.Form {
	case config.FormControlPlane:
		source = "spec.version"
	case config.FormKind:
		source = "node image with a tag"
	}
	if c.Root == nil && len(c.Manifests) > 0 {
		text, source = c.Manifests[0].Version, "image tag"
	}
	if text == "" || config.PlaceholderIn(text) != "" {
		return release.Release{}, "no " + source, nil
	}
	r, known, err := release.ParseKubernetesVersion(text)
	switch {
	case err != nil && c.Root == nil:
		// An image tag can be anything.
		return release.Release{}, source + " " + text + " is no version", nil
	case err != nil || !known:
		return release.Release{}, source + " is " + text, nil
	}
	return r, source, nil
}

// Select returns the rules that --only and --skip leave, in order, of those that judge configurations. Rules are named by
// ID or name; the error names the first that does not exist.
func Select(only, skip []string) ([]*Rule, error) {
	rules, err := selectRules(only, skip)
	return slices.DeleteFunc(rules, func(r *Rule) bool { return r.Run == nil }), err
}

// SelectLive is Select for the rules that judge live control planes.
func SelectLive(only, skip []string) ([]*Rule, error) {
	rules, err := selectRules(only, skip)
	return slices.DeleteFunc(rules, func(r *Rule) bool { return r.Live == nil }), err
}

func selectRules(only, skip []string) ([]*Rule, error) {
	wanted, err := findAll(only, "--only")
	if err != nil {
		return nil, err
	}
	unwanted, err := findAll(skip, "--skip")
	if err != nil {
		return nil, err
	}
	rules := All()
	if len(only) > 0 {
		rules = slices.DeleteFunc(rules, func(r *Rule) bool { return !slices.Contains(wanted, r) })
	}
	return slices.DeleteFunc(rules, func(r *Rule) bool { return slices.Contains(unwanted, r) }), nil
}

func findAll(names []string, flag string) ([]*Rule, error) {
	var rules []*Rule
	for _, name := range names {
		r, ok := Find(name)
		if !ok {
			return nil, fmt.Errorf("unknown rule %q in %s; mvpcheck explain lists them", name, flag)
		}
		rules = append(rules, r)
	}
	return rules, nil
}
