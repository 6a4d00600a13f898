// Package demo compares the embedded servers of mvpcheck demo with real ones: the same control plane is started twice,
// both are asked the same, and what differs must be among the differences that may be.
package demo
