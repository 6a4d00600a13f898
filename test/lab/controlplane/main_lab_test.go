//go:build lab && linux

package controlplane

import "testing"

func TestMain(m *testing.M) { Main(m) }
