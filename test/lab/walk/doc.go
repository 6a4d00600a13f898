// Package walk performs upgrades: three real servers are replaced one after the other, and what each answers in the
// meantime is compared with what mvpcheck plan has said before.
package walk
