package release

// kubeadmTypes builds the types of one version of kubeadm's API: v1beta3, v1beta4 or v1. The methods
// have the names of the Go types.
type kubeadmTypes struct{ version string }

func (v kubeadmTypes) isV1beta3() bool { return v.version == "v1beta3" }

// newer returns fields unless the version is v1beta3, which does not have them.
func (v kubeadmTypes) newer(fields ...[]*Field) []*Field {
	if v.isV1beta3() {
		return nil
	}
	return join(fields...)
}

// older returns fields if the version is v1beta3, the last that has them.
func (v kubeadmTypes) older(fields ...[]*Field) []*Field {
	if !v.isV1beta3() {
		return nil
	}
	return join(fields...)
}

// args is a list of name and value, and was a map in v1beta3.
func (v kubeadmTypes) args(name string) []*Field {
	if v.isV1beta3() {
		return mapOf(name, String)
	}
	fields := text("name", "value")
	if v.version == "v1" {
		fields = join(fields, text("mergeMethod"))
	}
	return objects(name, fields)
}

func (v kubeadmTypes) clusterConfiguration() []*Field {
	component := join(v.args("extraArgs"), hostPathMounts(), v.newer(envVars()))
	return join(
		text("kubernetesVersion", "controlPlaneEndpoint", "certificatesDir", "imageRepository", "clusterName"),
		mapOf("featureGates", Bool),
		object("apiServer", component, texts("certSANs"), v.older(duration("timeoutForControlPlane"))),
		object("controllerManager", component),
		object("scheduler", component),
		object("etcd",
			object("local",
				text("imageRepository", "imageTag", "dataDir"),
				v.args("extraArgs"), v.newer(envVars()),
				texts("serverCertSANs", "peerCertSANs")),
			object("external",
				texts("endpoints"), v.newer(since(35, texts("httpEndpoints"))),
				text("caFile", "certFile", "keyFile"))),
		object("networking", text("serviceSubnet", "podSubnet", "dnsDomain")),
		object("dns", text("imageRepository", "imageTag"), v.newer(boolean("disabled"))),
		v.newer(
			object("proxy", boolean("disabled")),
			text("encryptionAlgorithm"),
			duration("certificateValidityPeriod", "caCertificateValidityPeriod")),
	)
}

func (v kubeadmTypes) initConfiguration() []*Field {
	return join(
		objects("bootstrapTokens",
			text("token", "description"), duration("ttl"), text("expires"), texts("usages", "groups")),
		v.nodeRegistration(),
		apiEndpoint(),
		text("certificateKey"),
		texts("skipPhases"),
		patches(),
		v.newer(boolean("dryRun"), timeouts()),
	)
}

func (v kubeadmTypes) joinConfiguration() []*Field {
	return join(
		v.nodeRegistration(),
		text("caCertPath"),
		object("discovery",
			object("bootstrapToken",
				text("token", "apiServerEndpoint"), texts("caCertHashes"), boolean("unsafeSkipCAVerification")),
			object("file", text("kubeConfigPath")),
			text("tlsBootstrapToken"),
			v.older(duration("timeout"))),
		object("controlPlane", apiEndpoint(), text("certificateKey")),
		texts("skipPhases"),
		patches(),
		v.newer(boolean("dryRun"), timeouts()),
	)
}

func (v kubeadmTypes) nodeRegistration() []*Field {
	return object("nodeRegistration",
		text("name", "criSocket"),
		objects("taints", text("key", "value", "effect", "timeAdded")),
		v.args("kubeletExtraArgs"),
		texts("ignorePreflightErrors"),
		text("imagePullPolicy"),
		v.newer(boolean("imagePullSerial")),
	)
}

func resetConfiguration() []*Field {
	return join(
		boolean("cleanupTmpDir", "dryRun", "force"),
		text("certificatesDir", "criSocket"),
		texts("ignorePreflightErrors", "skipPhases", "unmountFlags"),
		timeouts(),
	)
}

func upgradeConfiguration() []*Field {
	return join(
		object("apply",
			text("kubernetesVersion", "imagePullPolicy"),
			boolean("allowExperimentalUpgrades", "allowRCUpgrades", "certificateRenewal", "dryRun", "etcdUpgrade", "forceUpgrade", "printConfig", "imagePullSerial"),
			texts("ignorePreflightErrors", "skipPhases"),
			patches()),
		object("diff", text("kubernetesVersion"), integer("contextLines")),
		object("node",
			text("imagePullPolicy"),
			boolean("certificateRenewal", "dryRun", "etcdUpgrade", "imagePullSerial"),
			texts("ignorePreflightErrors", "skipPhases"),
			patches()),
		object("plan",
			text("kubernetesVersion"),
			boolean("allowExperimentalUpgrades", "allowRCUpgrades", "dryRun", "etcdUpgrade", "printConfig"),
			texts("ignorePreflightErrors")),
		timeouts(),
	)
}

func apiEndpoint() []*Field {
	return object("localAPIEndpoint", text("advertiseAddress"), integer("bindPort"))
}

func patches() []*Field { return object("patches", text("directory")) }

func timeouts() []*Field {
	return object("timeouts", duration("controlPlaneComponentHealthCheck", "kubeletHealthCheck", "kubernetesAPICall", "etcdAPICall", "tlsBootstrap", "discovery", "upgradeManifests"))
}

func hostPathMounts() []*Field {
	return objects("extraVolumes", text("name", "hostPath", "mountPath"), boolean("readOnly"), text("pathType"))
}

func envVars() []*Field {
	return objects("extraEnvs",
		text("name", "value"),
		object("valueFrom",
			object("fieldRef", text("apiVersion", "fieldPath")),
			object("resourceFieldRef", text("containerName", "resource"), anything("divisor")), // a quantity: 1 or "1Gi"
			object("configMapKeyRef", text("name", "key"), boolean("optional")),
			object("secretKeyRef", text("name", "key"), boolean("optional")),
			since(34, object("fileKeyRef", text("volumeName", "path", "key"), boolean("optional")))))
}

// clusterAPIServer is the apiServer of Cluster API: extraArgs is a map in v1beta1, a list in v1beta2.
func clusterAPIServer(version string) []*Field {
	args := objects("extraArgs", text("name", "value"))
	timeout := []*Field(nil)
	if version == "v1beta1" {
		args, timeout = mapOf("extraArgs", String), duration("timeoutForControlPlane")
	}
	return object("apiServer", args, hostPathMounts(), envVars(), texts("certSANs"), timeout)
}
