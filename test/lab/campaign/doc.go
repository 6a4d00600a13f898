// Package campaign looks for settings that mvpcheck judges wrongly: it draws many at random, has the real programs try each,
// and compares.
//
// A setting is drawn from a seed and an index alone, so that any of them can be tried again by itself:
//
//	make lab-fuzz N=1000 SEED=7
//	make lab-fuzz SEED=7 ONLY=123
//
// What is drawn is weighted so that about half of the servers start. The draw knows what values of a flag look like, good ones
// and odd ones, but not what a server does with them: that, the server tells.
package campaign
