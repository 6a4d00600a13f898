// Package commands asks the real kubeadm for the commands and flags that the documentation uses.
package commands
