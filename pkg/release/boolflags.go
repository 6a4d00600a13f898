package release

// boolFlags are the flags of kube-apiserver that need no value on a command line: those that pflag's NoOptDefVal
// is set for in 1.33 to 1.37.
var boolFlags = map[string]bool{
	"aggregator-reject-forwarding-redirect":       true,
	"allow-privileged":                            true,
	"anonymous-auth":                              true,
	"audit-log-batch-throttle-enable":             true,
	"audit-log-compress":                          true,
	"audit-log-truncate-enabled":                  true,
	"audit-webhook-batch-throttle-enable":         true,
	"audit-webhook-truncate-enabled":              true,
	"contention-profiling":                        true,
	"disable-http2-serving":                       true,
	"emulation-forward-compatible":                true,
	"enable-aggregator-routing":                   true,
	"enable-bootstrap-token-auth":                 true,
	"enable-garbage-collector":                    true,
	"enable-logs-handler":                         true,
	"enable-priority-and-fairness":                true,
	"encryption-provider-config-automatic-reload": true,
	"log-text-split-stream":                       true,
	"permit-address-sharing":                      true,
	"permit-port-sharing":                         true,
	"profiling":                                   true,
	"runtime-config-emulation-forward-compatible": true,
	"service-account-extend-token-expiration":     true,
	"service-account-lookup":                      true,
	"shutdown-send-retry-after":                   true,
	"watch-cache":                                 true,
}

// IsBoolFlag tells whether a flag may stand on a command line without a value; the next word is then not its
// value.
func IsBoolFlag(name string) bool { return boolFlags[NormalizeFlag(name)] }
