# The targets that people and CI call. Everything is plain go commands; tools are pinned in tools/go.mod.
GO ?= go

.PHONY: all build test lint verify pages update update-catalogue fuzz lab lab-evidence lab-fuzz lab-walk lab-up lab-down bench clean

all: build

build: ## bin/mvpcheck
	$(GO) build -trimpath -o bin/mvpcheck ./cmd/mvpcheck

test: ## unit, command line and golden tests; no network
	$(GO) test ./...

lint: ## gofmt, go vet, staticcheck, actionlint
	@files=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$files" ]; then echo "gofmt would change:"; echo "$$files"; exit 1; fi
	$(GO) vet ./...
	$(GO) vet -tags lab ./test/lab/...
	cd tools && $(GO) build -o ../bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	bin/staticcheck ./...
	bin/staticcheck -tags lab ./test/lab/...
	cd tools && $(GO) build -o ../bin/actionlint github.com/rhysd/actionlint/cmd/actionlint
	bin/actionlint

pages: ## open the pages of -o html in Chromium, and read -o markdown by another renderer; MVPCHECK_SCREENSHOTS=DIR keeps pictures
	cd test/pages && $(GO) vet ./... && $(GO) test -count=1 -timeout 30m ./...

verify: ## are the generated files up to date?
	hack/verify-docs.sh

update: ## write golden files and generated documentation anew
	hack/update-docs.sh
	$(GO) test ./internal/report ./pkg/patch ./pkg/checks ./internal/evidence -update
	$(GO) test ./cmd/mvpcheck -run '^Test(Examples|Numbers)$$' -update

update-catalogue: ## make internal/release/catalogue anew from the releases: make update-catalogue RELEASE=1.38 (default all)
	$(GO) run ./test/lab/cmd/labbuild $(if $(RELEASE),-release $(RELEASE)) kubeadm kube-apiserver describe
	$(GO) run ./test/lab/cmd/labbuild etcd
	$(GO) test -tags lab -count=1 -timeout 90m -v -run TestCatalogue ./test/lab/catalogue -update $(if $(RELEASE),-release $(RELEASE))

fuzz: ## every fuzz target for FUZZTIME (default 1m)
	hack/fuzz.sh $(or $(FUZZTIME),1m)

lab: ## compare with the real kubeadm and kube-apiserver of each release; builds what is missing
	$(GO) run ./test/lab/cmd/labbuild kubeadm kube-apiserver describe etcd
	$(GO) test -tags lab -short -count=1 -timeout 60m ./test/lab/...

lab-evidence: ## record anew what the servers of the scenarios say (testdata/evidence), and the judgement beside it
	$(GO) run ./test/lab/cmd/labbuild kubeadm kube-apiserver etcd
	$(GO) test -tags lab -count=1 -timeout 30m ./test/lab/scenarios -update
	$(GO) test ./pkg/checks -update

lab-fuzz: ## random settings against the real kube-apiserver: make lab-fuzz N=1000 SEED=7; one again: SEED=7 ONLY=123 RUN=TestStartUp
	$(GO) run ./test/lab/cmd/labbuild kubeadm kube-apiserver etcd
	n=$(or $(N),100); $(GO) test -tags lab -count=1 -timeout 0 -v -run '$(or $(RUN),TestStartUp|TestHandOff)' ./test/lab/campaign \
		-seed $(or $(SEED),1) -n $$n -planes $$((n / 10)) -only $(or $(ONLY),-1)

lab-walk: ## upgrade real servers one after the other, and compare each step with mvpcheck plan
	$(GO) run ./test/lab/cmd/labbuild -release 1.35,1.36,1.37 kubeadm kube-apiserver
	$(GO) run ./test/lab/cmd/labbuild etcd
	$(GO) test -tags lab -count=1 -timeout 60m -v ./test/lab/walk

lab-up: ## leave a control plane running: make lab-up VERSIONS="1.35 1.36 1.36" ARGS="-set cp-2:v=4"
	$(GO) run ./test/lab/cmd/lab up $(ARGS) $(or $(VERSIONS),1.35 1.36)

lab-down: ## end it
	$(GO) run ./test/lab/cmd/lab down

bench: ## compare with kubeadm config validate, kubeconform and curl
	hack/bench/check.sh
	hack/bench/probe.sh

clean:
	rm -rf bin dist

.PHONY: man completions snapshot packages

man: ## bin/man: a manual page for each command
	$(GO) run ./hack/man bin/man

completions: build ## bin/completions: for bash, zsh, fish and PowerShell
	mkdir -p bin/completions
	bin/mvpcheck completion bash >bin/completions/mvpcheck.bash
	bin/mvpcheck completion zsh >bin/completions/_mvpcheck
	bin/mvpcheck completion fish >bin/completions/mvpcheck.fish
	bin/mvpcheck completion powershell >bin/completions/mvpcheck.ps1

snapshot: ## dist: what a release would be made of
	hack/release/goreleaser.sh release --snapshot --clean --skip=publish

packages: ## two releases of HEAD: are they the same, and is all in them? CACHE=shared is faster
	hack/release/goreleaser.sh check
	rm -rf dist
	hack/release/reproducible.sh dist
	MVPCHECK_DIST=$(CURDIR)/dist $(GO) test -count=1 ./test/packages
