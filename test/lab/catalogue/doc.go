// Package catalogue makes the catalogues of internal/release from the releases themselves, and compares them.
//
// What a release accepts comes from ../describe, which is linked with it: flags, feature gates, group versions. What it
// serves comes from its running server: with --runtime-config=api/all=true it tells every resource, and switching gates
// and emulating older releases shows what each resource hangs on. The model that this gives (release.Catalogue.Serves)
// is then held against servers with other settings.
package catalogue
