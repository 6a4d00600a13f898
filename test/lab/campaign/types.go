package campaign

// Values by the type of a flag, for those flags that have none of their own.
var (
	booleans = choice{
		[]string{"true", "false", "true", "false", "1", "0", "True", "F"},
		[]string{"", "yes", "on", "TRUE ", " true", "tRUE", "enabled", "01", "'true'"},
	}
	integers = choice{
		[]string{"1", "10", "100", "400"},
		[]string{"", "0", "-1", "1.5", "ten", "1_000", "0x10", "010", "0o17", "+5", " 5", "5 ", "9223372036854775807", "9223372036854775808", "2147483648", "1e3"},
	}
	sizes = choice{
		[]string{"10485760", "102400", "1048576"},
		[]string{"", "0", "-1", "10Mi", "1", "9223372036854775808"},
	}
	unsigned = choice{
		[]string{"1", "10250"},
		[]string{"", "-1", "0", "65536", "4294967296", "18446744073709551616", "ten"},
	}
	floats = choice{
		[]string{"10", "0.5", "100.0"},
		[]string{"", "0", "-1", "NaN", "+Inf", "1e39", "1,5", "0x1p-2", "ten", "1_0"},
	}
	durations = choice{
		[]string{"10s", "1m", "5m0s", "500ms", "1h30m"},
		[]string{"", "0", "0s", "10", "-5s", "1d", "5 m", "1h-5m", "1µs", "1.5h", ".5m", "5M", "2562048h", "+1s", "1m30"},
	}
	addresses = choice{
		[]string{nodeMark, "0.0.0.0"},
		[]string{"", "localhost", "::", "1.2.3", "1.2.3.4/24", "01.2.3.4", " 10.0.0.1", "fe80::1%lo"},
	}
	lists = choice{
		[]string{"a", "a,b", "one,two,three"},
		[]string{"", ",", "a,,b", "\"a,b\"", "\"a", "a\"b", "a, b", " ", "ä,ß", "a\nb", "a,"},
	}
	mappings = choice{
		[]string{"a=b", "a=b,c=d"},
		[]string{"", "a", "a=", "=b", "a=b=c", ",", "a=b,a=c", "\"a=b\"", " a = b "},
	}
	anyText = choice{
		[]string{"text", "a-b", "kubernetes"},
		[]string{"", " ", "a b", "naïve", "数据", "true", "0", "--x", "a=b", "'quoted'", "\"quoted\"", "line\nbreak", "tab\t", "-", "$HOME", "<value>", "\u200b", long},
	}
	quantities = choice{
		[]string{"0", "1Mi"},
		[]string{"", "-1", "1.5", "Mi", "1mi", "1 Mi", "1e3", "0x1"},
	}
	portRanges = choice{
		[]string{"30000-32767"},
		[]string{"", "0", "1-0", "a-b", "1-70000", "1+2"},
	}
	int32Lists = choice{
		[]string{"1", "1,2"},
		[]string{"", "a", "2147483648", "1,", "-1"},
	}
	pairs = choice{
		[]string{serverCrt + "," + serverKey},
		[]string{"", "a", "a,b", "a,b:c"},
	}
	modules = choice{
		[]string{"a=1"},
		[]string{"", "a", "a=b"},
	}
)

var typeValues = map[string]choice{
	"bool": booleans, "int": integers, "int32": integers, "int64": integers, "uint": unsigned, "Level": integers,
	"float32": floats, "float64": floats, "duration": durations, "ip": addresses, "string": anyText,
	"stringSlice": lists, "stringArray": lists, "stringToString": mappings, "mapStringString": mappings,
	"colonSeparatedMultimapStringString": mappings, "quantity": quantities, "portRange": portRanges, "int32Slice": int32Lists,
	"namedCertKey": pairs, "pattern=N,...": modules, "version": booleans,
}
