package startup

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

var encryptionShape = shape{"resources": {
	"resources": nil,
	"providers": {
		"aesgcm": keyShape, "aescbc": keyShape, "secretbox": keyShape, "identity": {},
		"kms": fields("apiVersion", "name", "cachesize", "endpoint", "timeout"),
	},
}}.object()

var keyShape = shape{"keys": fields("name", "secret")}

type encryptionKeys struct {
	Keys []struct{ Name, Secret string }
}

type encryptionProvider struct {
	AESGCM, AESCBC, Secretbox *encryptionKeys
	Identity                  *struct{}
	KMS                       *struct {
		APIVersion     string
		Name, Endpoint string
		CacheSize      *int32
		Timeout        *string
	}
}

// encrypted judges an EncryptionConfiguration: pkg/apis/apiserver/validation/validation_encryption.go and
// pkg/server/options/encryptionconfig of k8s.io/apiserver.
func encrypted(c content) string {
	var config struct {
		Resources []struct {
			Resources []string
			Providers []encryptionProvider
		}
	}
	if problem := c.decode(&config); problem != "" {
		return problem
	}
	earlier := map[schema.GroupResource]bool{}
	plugins := map[string]bool{}
	for i, r := range config.Resources {
		at := fmt.Sprintf("resources[%d]", i)
		if len(r.Resources) == 0 || len(r.Providers) == 0 {
			return has(at, "without resources or without providers")
		}
		if problem := encryptedResources(r.Resources, at); problem != "" {
			return problem
		}
		for j, p := range r.Providers {
			if problem := p.refused(fmt.Sprintf("%s.providers[%d]", at, j), plugins); problem != "" {
				return problem
			}
		}
		for _, name := range r.Resources {
			resource := schema.ParseGroupResource(name)
			if earlier[anyResource] || earlier[schema.GroupResource{Group: resource.Group, Resource: "*"}] {
				return has(at, "with %q, which an earlier entry covers", name)
			}
			earlier[resource] = true
		}
	}
	return ""
}

var anyResource = schema.GroupResource{Group: "*", Resource: "*"}

func encryptedResources(names []string, at string) string {
	refused := func(name, why string) string { return has(at, "with %q: %s", name, why) }
	var seen []schema.GroupResource
	for _, name := range names {
		r := schema.ParseGroupResource(name)
		switch {
		case strings.ToLower(name) != name:
			return refused(name, "a resource is written in small letters")
		case name == "*":
			return refused(name, "all resources of the core group are *., all resources are *.*")
		case name == "apiserveripinfo", name == "serviceipallocations", name == "servicenodeportallocations":
			return refused(name, "it has no API")
		case r.Group == "events.k8s.io":
			return refused(name, "events are stored as events, without a group")
		case r.Group == "extensions":
			return refused(name, "the group extensions is no more")
		case r.Group == "*" && r.Resource != "*":
			return refused(name, "a resource is of one group")
		}
		for _, other := range seen {
			switch {
			case other == r:
				return refused(name, "it is there twice")
			case other == anyResource, r == anyResource,
				other.Group == r.Group && (other.Resource == "*" || r.Resource == "*"):
				return refused(name, "it overlaps with another one of the list")
			}
		}
		seen = append(seen, r)
	}
	return ""
}

// refused judges one provider; plugins are the names of those before.
func (p encryptionProvider) refused(at string, plugins map[string]bool) string {
	kinds := 0
	for _, set := range []bool{p.AESGCM != nil, p.AESCBC != nil, p.Secretbox != nil, p.Identity != nil, p.KMS != nil} {
		if set {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return has(at, "with %d providers in place of one", kinds)
	case p.AESGCM != nil:
		return p.AESGCM.refused(at, 16, 24, 32)
	case p.AESCBC != nil:
		return p.AESCBC.refused(at, 16, 24, 32)
	case p.Secretbox != nil:
		return p.Secretbox.refused(at, 32)
	case p.KMS != nil:
		return p.refusedPlugin(at, plugins)
	}
	return ""
}

func (k *encryptionKeys) refused(at string, lengths ...int) string {
	if len(k.Keys) == 0 {
		return has(at, "without keys")
	}
	for _, key := range k.Keys {
		secret, err := base64.StdEncoding.DecodeString(key.Secret)
		switch {
		case key.Name == "" || key.Secret == "":
			return has(at, "with a key that lacks its name or its secret")
		case err != nil:
			return has(at, "with a secret that is not base64")
		case !slices.Contains(lengths, len(secret)):
			return has(at, "with a secret of %d bytes: it takes %v", len(secret), lengths)
		}
		clear(secret)
	}
	return ""
}

func (p encryptionProvider) refusedPlugin(at string, plugins map[string]bool) string {
	kms := p.KMS
	version := kms.APIVersion
	if version == "" {
		version = "v1"
	}
	endpoint, err := url.Parse(kms.Endpoint)
	switch {
	case version != "v1" && version != "v2":
		return has(at, "with apiVersion %q: it takes v1 and v2", version)
	case kms.Name == "":
		return has(at, "without a name")
	case version == "v2" && (strings.Contains(kms.Name, ":") || plugins[kms.Name]):
		return has(at, "with the name %q, which has a colon or is there twice", kms.Name)
	case err != nil || endpoint.Scheme != "unix":
		return has(at, "with an endpoint that is not unix:///PATH")
	case version == "v2" && kms.CacheSize != nil, kms.CacheSize != nil && *kms.CacheSize == 0:
		return has(at, "with a cachesize that it does not take")
	}
	if kms.Timeout != nil {
		if d, err := time.ParseDuration(*kms.Timeout); err != nil || d <= 0 {
			return has(at, "with a timeout that is not above 0")
		}
	}
	plugins[kms.Name] = true
	return ""
}
