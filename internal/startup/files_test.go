package startup

import (
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

// there is what the server sees in these tests.
func there(path string) bool { return strings.HasPrefix(path, "/etc/there") }

const (
	secret32 = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	secret24 = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"
)

// contentOf is a file with a text in a server of 1.33, which has the flags.
func contentOf(text string, line ...Setting) content {
	c, _ := release.CatalogueOf(release.OfMinor(33))
	node := Node{Host: func(string) (string, bool) { return "", false }, Mounted: there}
	return content{Server: NewServer(c, line, release.EffectiveOf(c.MinorRelease())), node: node, name: "/etc/there/file.yaml", text: []byte(text)}
}

// judge returns what is said of the values in a file, whatever its apiVersion and kind.
func judge(k configuration, line ...Setting) func(text string) string {
	return func(text string) string {
		c := contentOf(text, line...)
		var top map[string]any
		if data, err := yaml.YAMLToJSON(c.text); err == nil && json.Unmarshal(data, &top) == nil {
			c.json = data
			return k.refusedValues(c, top)
		}
		return "is not YAML"
	}
}

// TestFiles has for each kind texts that the server takes, and others with a part of what is said of them.
func TestFiles(t *testing.T) {
	for kind, tc := range map[string]struct {
		judge func(text string) string
		texts map[string]string
	}{
		"audit": {
			judge(auditPolicy),
			map[string]string{
				"rules: [{level: Metadata}]": "",
				"omitStages: [Panic]\nrules: [{level: None, nonResourceURLs: ['/healthz*', '*']}, {level: Request, resources: [{group: '', resources: [pods]}, {group: '*'}]}]": "",
				"rule: [{level: metadata}]\nrules: []":                                 "",
				"rules: [{level: metadata}]":                                           `rules[0] with the level "metadata"`,
				"rules: [{level: None}, {users: [a]}]":                                 `rules[1] with the level ""`,
				"omitStages: [Never]":                                                  `"Never" in omitStages`,
				"rules: [{level: None, omitStages: [panic]}]":                          `"panic" in rules[0].omitStages`,
				"rules: [{level: None, nonResourceURLs: [healthz]}]":                   `the path "healthz"`,
				"rules: [{level: None, nonResourceURLs: ['/a*b']}]":                    `the path "/a*b"`,
				"rules: [{level: None, nonResourceURLs: [/a], namespaces: [b]}]":       "both nonResourceURLs and",
				"rules: [{level: None, resources: [{group: Apps/v1}]}]":                `the API group "Apps/v1"`,
				"rules: [{level: None, resources: [{group: '', resourceNames: [a]}]}]": "resourceNames and no resources",
				"rules: [{level: 1}]":                                                  "wrong type",
			},
		},
		"encryption": {
			judge(encryption),
			map[string]string{
				"resources: [{resources: [secrets], providers: [{aescbc: {keys: [{name: a, secret: " + secret32 + "}]}}, {identity: {}}]}]": "",
				"resources: [{resources: [secrets], providers: [{aesgcm: {keys: [{name: a, secret: " + secret24 + "}]}}]}]":                 "",
				"resources: [{resources: [secrets, configmaps], providers: [{identity: {}}]}, {resources: ['*.apps', '*.'], providers: [{identity: {}}]}, " +
					"{resources: ['*.*'], providers: [{kms: {apiVersion: v2, name: a, endpoint: 'unix:///run/kms.sock', timeout: 3s}}]}]": "",
				"resource: []": `a field "resource" that is not known`,
				"resources: [{resources: [secrets], providers: [{aescbs: {}}]}]":                                                          `"aescbs" that is not known in resources[0].providers[0]`,
				"resources: [{resources: [secrets], providers: []}]":                                                                      "without resources or without providers",
				"resources: [{providers: [{identity: {}}]}]":                                                                              "without resources or without providers",
				"resources: [{resources: [secrets], providers: [{}]}]":                                                                    "0 providers in place of one",
				"resources: [{resources: [secrets], providers: [{identity: {}, aescbc: {keys: []}}]}]":                                    "2 providers in place of one",
				"resources: [{resources: [secrets], providers: [{aescbc: {keys: []}}]}]":                                                  "without keys",
				"resources: [{resources: [secrets], providers: [{aescbc: {keys: [{name: a, secret: c2hvcnQ=}]}}]}]":                       "a secret of 5 bytes",
				"resources: [{resources: [secrets], providers: [{secretbox: {keys: [{name: a, secret: " + secret24 + "}]}}]}]":            "a secret of 24 bytes",
				"resources: [{resources: [secrets], providers: [{aescbc: {keys: [{name: a, secret: '!'}]}}]}]":                            "not base64",
				"resources: [{resources: [secrets], providers: [{aescbc: {keys: [{secret: " + secret32 + "}]}}]}]":                        "lacks its name",
				"resources: [{resources: [Secrets], providers: [{identity: {}}]}]":                                                        "small letters",
				"resources: [{resources: ['*'], providers: [{identity: {}}]}]":                                                            "all resources are *.*",
				"resources: [{resources: [serviceipallocations], providers: [{identity: {}}]}]":                                           "it has no API",
				"resources: [{resources: [events.events.k8s.io], providers: [{identity: {}}]}]":                                           "stored as events",
				"resources: [{resources: [ingresses.extensions], providers: [{identity: {}}]}]":                                           "is no more",
				"resources: [{resources: ['pods.*'], providers: [{identity: {}}]}]":                                                       "of one group",
				"resources: [{resources: [secrets, secrets], providers: [{identity: {}}]}]":                                               "there twice",
				"resources: [{resources: [secrets, '*.'], providers: [{identity: {}}]}]":                                                  "overlaps",
				"resources: [{resources: [secrets, '*.*'], providers: [{identity: {}}]}]":                                                 "overlaps",
				"resources: [{resources: ['*.'], providers: [{identity: {}}]}, {resources: [secrets], providers: [{identity: {}}]}]":      "an earlier entry covers",
				"resources: [{resources: [secrets], providers: [{kms: {apiVersion: v3, name: a, endpoint: 'unix:///a'}}]}]":               `apiVersion "v3"`,
				"resources: [{resources: [secrets], providers: [{kms: {apiVersion: v2, endpoint: 'unix:///a'}}]}]":                        "without a name",
				"resources: [{resources: [secrets], providers: [{kms: {apiVersion: v2, name: 'a:b', endpoint: 'unix:///a'}}]}]":           `the name "a:b"`,
				"resources: [{resources: [secrets], providers: [{kms: {apiVersion: v2, name: a, endpoint: 'http://a'}}]}]":                "unix:///PATH",
				"resources: [{resources: [secrets], providers: [{kms: {apiVersion: v2, name: a, endpoint: 'unix:///a', cachesize: 3}}]}]": "a cachesize",
				"resources: [{resources: [secrets], providers: [{kms: {apiVersion: v2, name: a, endpoint: 'unix:///a', timeout: 0s}}]}]":  "a timeout",
			},
		},
		"authentication": {
			judge(authentication, Setting{Flag: "service-account-issuer", Value: "https://own.example"}),
			map[string]string{
				"jwt: []":                    "",
				"anonymous: {enabled: true}": "",
				"jwt: [{issuer: {url: 'https://a.example', audiences: [a]}, claimMappings: {username: {claim: sub, prefix: ''}}}]": "",
				"jwt: [{issuer: {url: 'https://a.example', audiences: [a, b], audienceMatchPolicy: MatchAny}, claimMappings: {username: {expression: claims.sub}}, " +
					"claimValidationRules: [{claim: hd, requiredValue: a}, {expression: 'true', message: m}]}]": "",
				"jwts: []": `a field "jwts"`,
				"jwt: [{issuer: {url: 'http://a.example', audiences: [a]}, claimMappings: {username: {claim: sub, prefix: ''}}}]":                                         `the issuer "http://a.example"`,
				"jwt: [{issuer: {url: 'https://a.example?b', audiences: [a]}, claimMappings: {username: {claim: sub, prefix: ''}}}]":                                      "the issuer",
				"jwt: [{issuer: {url: 'https://own.example', audiences: [a]}, claimMappings: {username: {claim: sub, prefix: ''}}}]":                                      "the issuer of service accounts",
				"jwt: [{issuer: {url: 'https://a.example', audiences: []}, claimMappings: {username: {claim: sub, prefix: ''}}}]":                                         "without audiences",
				"jwt: [{issuer: {url: 'https://a.example', audiences: [a, a]}, claimMappings: {username: {claim: sub, prefix: ''}}}]":                                     "there twice",
				"jwt: [{issuer: {url: 'https://a.example', audiences: [a, b]}, claimMappings: {username: {claim: sub, prefix: ''}}}]":                                     "audienceMatchPolicy",
				"jwt: [{issuer: {url: 'https://a.example', audiences: [a]}}]":                                                                                             "without a claim for the user name",
				"jwt: [{issuer: {url: 'https://a.example', audiences: [a]}, claimMappings: {username: {claim: sub}}}]":                                                    "a mapping for username",
				"jwt: [{issuer: {url: 'https://a.example', audiences: [a], egressSelectorType: etcd}, claimMappings: {username: {}}}]":                                    "egressSelectorType",
				"jwt: [{issuer: {url: 'https://a.example', discoveryURL: 'https://a.example/', audiences: [a]}}]":                                                         "the discoveryURL",
				"jwt: [{issuer: {url: 'https://a.example', audiences: [a]}, claimMappings: {username: {expression: a}}, claimValidationRules: [{claim: a, message: b}]}]": "claimValidationRules[0]",
				"anonymous: {enabled: false, conditions: [{path: /livez}]}":                                                                                               "not enabled",
			},
		},
		"authorization": {
			judge(authorization),
			map[string]string{
				"authorizers: [{type: Node, name: node}, {type: RBAC, name: rbac}]":                                                                          "",
				hook("timeout: 3s, subjectAccessReviewVersion: v1, failurePolicy: Deny, connectionInfo: {type: InClusterConfig}"):                            "",
				hook("timeout: 3s, subjectAccessReviewVersion: v1, failurePolicy: Deny, connectionInfo: {type: KubeConfigFile, kubeConfigFile: /etc/there}"): "",
				"authorizers: [{type: AlwaysSo, name: so}]":                                                                                                  `the type "AlwaysSo"`,
				"authorizers: [{name: so}]":                                                                                       `the type ""`,
				"authorizers: [{type: RBAC, name: a}, {type: RBAC, name: b}]":                                                     "the type RBAC of another one",
				"authorizers: [{type: RBAC, name: a}, {type: Node, name: a}]":                                                     `the name "a"`,
				"authorizers: [{type: RBAC}]":                                                                                     `the name ""`,
				"authorizers: [{type: RBAC, name: A_b}]":                                                                          `the name "A_b"`,
				"authorizers: [{type: Webhook, name: a}]":                                                                         "a webhook has a section webhook",
				"authorizers: [{type: RBAC, name: a, webhook: {timeout: 3s}}]":                                                    "nothing else has",
				"authorizers: [{type: RBAC, name: a, mode: b}]":                                                                   `a field "mode"`,
				hook("subjectAccessReviewVersion: v1, failurePolicy: Deny"):                                                       "the timeout",
				hook("timeout: 31s, subjectAccessReviewVersion: v1, failurePolicy: Deny"):                                         "the timeout",
				hook("timeout: 3s, authorizedTTL: -1s"):                                                                           "authorizedTTL",
				hook("timeout: 3s, subjectAccessReviewVersion: v2"):                                                               "subjectAccessReviewVersion",
				hook("timeout: 3s, subjectAccessReviewVersion: v1, failurePolicy: Never"):                                         "failurePolicy",
				hook("timeout: 3s, subjectAccessReviewVersion: v1, failurePolicy: Deny"):                                          "the type \"\" of connectionInfo",
				hook("timeout: 3s, subjectAccessReviewVersion: v1, failurePolicy: Deny, matchConditions: [{expression: 'true'}]"): "matchConditionSubjectAccessReviewVersion",
				hook("timeout: 3s, subjectAccessReviewVersion: v1, failurePolicy: Deny, connectionInfo: {type: KubeConfigFile, kubeConfigFile: /gone}"): "a kubeConfigFile that is not",
				hook("timeout: 3s, subjectAccessReviewVersion: v1, failurePolicy: Deny, connectionInfo: {type: InClusterConfig, kubeConfigFile: /a}"):   "and the type InClusterConfig",
			},
		},
		"admission": {
			judge(admission, Setting{Flag: "enable-admission-plugins", Value: "NodeRestriction,EventRateLimit"}),
			map[string]string{
				"plugins: [{name: EventRateLimit, path: there}, {name: PodSecurity, configuration: {defaults: {enforce: baseline, enforce-version: v1.30}}}]": "",
				"plugins: [{name: EventRateLimit, path: /etc/gone}]": `plugins[0] (EventRateLimit) with the path "/etc/gone", a file that is not there`,
				"plugins: [{name: EventRateLimit}]":                  "no configuration for EventRateLimit",
				"plugins: []":                                        "no configuration for EventRateLimit",
				"plugins: [{name: PodSecurity}, {name: EventRateLimit, configuration: {}}, {name: Other, configuration: {defaults: {enforce: strict}}}]": "",
				"plugins: [{name: PodSecurity, configuration: {defaults: {enforce: strict}}}]":                                                           `enforce "strict"`,
				"plugins: [{name: PodSecurity, configuration: {defaults: {warn-version: '1.30'}}}]":                                                      `warn-version "1.30"`,
			},
		},
		"egress": {
			judge(egressSelectors),
			map[string]string{
				"egressSelections: [{name: Cluster, connection: {proxyProtocol: Direct}}, {name: etcd, connection: {proxyProtocol: GRPC, transport: {uds: {udsName: /a}}}}]":                      "",
				"egressSelections: [{name: cluster, connection: {proxyProtocol: HTTPConnect, transport: {tcp: {url: 'http://a'}}}}]":                                                              "",
				"egressSelections: [{name: cluster, connection: {proxyProtocol: HTTPConnect, transport: {tcp: {url: 'https://a', tlsConfig: {clientCert: /etc/there, clientKey: /etc/there}}}}}]": "",
				"egressSelections: [{name: nowhere, connection: {proxyProtocol: Direct}}]":                                                                                                        `the name "nowhere"`,
				"egressSelections: [{name: cluster, connection: {proxyProtocol: Direct}}, {name: Cluster, connection: {proxyProtocol: Direct}}]":                                                  "there twice",
				"egressSelections: [{name: cluster, connection: {proxyProtocol: direct}}]":                                                                                                        `proxyProtocol "direct"`,
				"egressSelections: [{name: cluster, connection: {proxyProtocol: Direct, transport: {}}}]":                                                                                         "with a transport",
				"egressSelections: [{name: cluster, connection: {proxyProtocol: GRPC}}]":                                                                                                          "udsName, which GRPC needs",
				"egressSelections: [{name: cluster, connection: {proxyProtocol: HTTPConnect}}]":                                                                                                   "one of transport.tcp and",
				"egressSelections: [{name: cluster, connection: {proxyProtocol: HTTPConnect, transport: {uds: {}}}}]":                                                                             "without udsName",
				"egressSelections: [{name: cluster, connection: {proxyProtocol: HTTPConnect, transport: {tcp: {url: 'https://a'}}}}]":                                                             "an url that is neither",
				"egressSelections: [{name: cluster, connection: {proxyProtocol: HTTPConnect, transport: {tcp: {url: 'https://a', tlsConfig: {}}}}}]":                                              "a file that is not there",
			},
		},
		"tracing": {
			judge(tracing),
			map[string]string{
				"samplingRatePerMillion: 1000000\nendpoint: localhost:4317": "",
				"endpoint: unix:///run/otel.sock":                           "",
				"samplingRatePerMillion: -1":                                "samplingRatePerMillion -1",
				"samplingRatePerMillion: 1000001":                           "samplingRatePerMillion 1000001",
				"endpoint: http://localhost:4317":                           `the endpoint "http://localhost:4317"`,
			},
		},
		"kubeconfig": {
			func(text string) string { return kubeconfig(contentOf(text)) },
			map[string]string{
				kubeconfigOf("{server: 'https://a'}", "{}"):                                                          "",
				kubeconfigOf("{server: 'https://a', certificate-authority: ca.crt}", "{token: a}"):                   "",
				kubeconfigOf("{server: 'https://a', certificate-authority: /gone.crt}", "{}"):                        `names "/gone.crt", which is not there`,
				kubeconfigOf("{server: 'https://a', certificate-authority: ../gone.crt}", "{}"):                      `names "/etc/gone.crt"`,
				kubeconfigOf("{server: 'https://a'}", "{tokenFile: /gone}"):                                          `names "/gone"`,
				kubeconfigOf("{server: 'https://a'}", "{client-certificate: /gone.crt, client-key: /etc/there.key}"): `names "/gone.crt"`,
				kubeconfigOf("{}", "{}"):                                                    "names no server",
				"clusters: [{name: a, cluster: {server: 'https://a'}}]":                     "leads to no server",
				"current-context: b\nclusters: [{name: a, cluster: {server: 'https://a'}}]": "cannot be used",
				"- a": "is not a kubeconfig",
			},
		},
	} {
		t.Run(kind, func(t *testing.T) {
			for text, want := range tc.texts {
				got := tc.judge(text)
				if (got == "") != (want == "") || !strings.Contains(got, want) {
					t.Errorf("%s\ngot %q, want %q", text, got, want)
				}
				if strings.Contains(got, secret24) || strings.Contains(got, secret32) {
					t.Errorf("a secret is quoted: %s", got)
				}
			}
		})
	}
}

func hook(fields string) string {
	return "authorizers: [{type: Webhook, name: hook, webhook: {" + fields + "}}]"
}

func kubeconfigOf(cluster, user string) string {
	return "current-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\nclusters: [{name: a, cluster: " + cluster + "}]\nusers: [{name: a, user: " + user + "}]\n"
}

// TestAuthenticationFlags has files that are right, and flags that they do not go with.
func TestAuthenticationFlags(t *testing.T) {
	const text = "anonymous: {enabled: true}"
	if got := judge(authentication, Setting{Flag: "anonymous-auth", Value: "true"})(text); !strings.Contains(got, "as the flag") {
		t.Errorf("with the flag: %q", got)
	}
	if got := judge(authentication, Setting{Flag: "feature-gates", Value: "AnonymousAuthConfigurableEndpoints=false"})(text); !strings.Contains(got, "the gate") {
		t.Errorf("without the gate: %q", got)
	}
}

// FuzzFiles makes sure that no text stops the program.
func FuzzFiles(f *testing.F) {
	f.Add([]byte("resources: [{providers: [{aescbc: {keys: [{secret: a}]}}]}]"))
	f.Add([]byte("rules: [{nonResourceURLs: ['']}]"))
	f.Add([]byte("jwt: [{}]\nauthorizers: [{webhook: {}}]\negressSelections: [{connection: {transport: {tcp: {}}}}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, k := range []configuration{auditPolicy, encryption, authentication, authorization, admission, egressSelectors, tracing} {
			k.refused(contentOf(string(text)))
			judge(k, Setting{Flag: "enable-admission-plugins", Value: "EventRateLimit"})(string(text))
		}
		kubeconfig(contentOf(string(text)))
	})
}
