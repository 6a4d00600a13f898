# The targets that people and CI call. Everything is plain go commands; tools are pinned in tools/go.mod.
GO ?= go

.PHONY: all build test lint verify update fuzz lab bench clean

all: build

build: ## bin/mvpcheck
	$(GO) build -trimpath -o bin/mvpcheck ./cmd/mvpcheck

test: ## unit, command line and golden tests; no network
	$(GO) test ./...

lint: ## gofmt, go vet, staticcheck
	@files=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$files" ]; then echo "gofmt would change:"; echo "$$files"; exit 1; fi
	$(GO) vet ./...
	$(GO) vet -tags lab ./test/lab/...
	cd tools && $(GO) build -o ../bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	bin/staticcheck ./...
	bin/staticcheck -tags lab ./test/lab/...

verify: ## are the generated files up to date?
	hack/verify-docs.sh

update: ## write golden files and generated documentation anew
	hack/update-docs.sh
	$(GO) test ./pkg/report ./pkg/patch ./pkg/checks -update

fuzz: ## every fuzz target for FUZZTIME (default 1m)
	hack/fuzz.sh $(or $(FUZZTIME),1m)

lab: ## compare with the real kubeadm of each release; builds what is missing
	$(GO) run ./test/lab/cmd/labbuild kubeadm
	$(GO) test -tags lab -count=1 -timeout 30m ./test/lab/...

bench: ## compare with kubeadm config validate and kubeconform
	hack/bench/check.sh

clean:
	rm -rf bin dist
