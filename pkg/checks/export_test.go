package checks

// What the tests of package checks_test share with those of this package.
var (
	TestTime     = testTime
	FindingLines = findings
)
