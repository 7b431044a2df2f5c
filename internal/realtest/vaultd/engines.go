package main

import (
	"slices"

	jwt "github.com/hashicorp/vault-plugin-auth-jwt"
	kubernetesauth "github.com/hashicorp/vault-plugin-auth-kubernetes"
	kubernetes "github.com/hashicorp/vault-plugin-secrets-kubernetes"
	kv "github.com/hashicorp/vault-plugin-secrets-kv"
	"github.com/hashicorp/vault/builtin/credential/approle"
	"github.com/hashicorp/vault/builtin/logical/aws"
	"github.com/hashicorp/vault/builtin/logical/pki"
	"github.com/hashicorp/vault/builtin/logical/transit"
	"github.com/hashicorp/vault/plugins/database/postgresql"
	"github.com/hashicorp/vault/sdk/helper/consts"
	"github.com/hashicorp/vault/sdk/logical"
)

// registry holds the engines and the ways to log in that are built in.
type registry struct{}

// all are what makes those of one type, by name.
func (registry) all(of consts.PluginType) map[string]func() (any, error) {
	switch of {
	case consts.PluginTypeCredential:
		return map[string]func() (any, error){"approle": by(approle.Factory), "jwt": by(jwt.Factory), "kubernetes": by(kubernetesauth.Factory)}
	case consts.PluginTypeSecrets:
		return map[string]func() (any, error){"aws": by(aws.Factory), "kubernetes": by(kubernetes.Factory), "kv": by(kv.Factory),
			"pki": by(pki.Factory), "transit": by(transit.Factory)}
	case consts.PluginTypeDatabase:
		return map[string]func() (any, error){"postgresql-database-plugin": postgresql.New}
	}
	return nil
}

// by gives the factory itself: Vault has it make what it needs.
func by(f logical.Factory) func() (any, error) { return func() (any, error) { return f, nil } }

// Get gives what makes a plugin.
func (r registry) Get(name string, of consts.PluginType) (func() (any, error), bool) {
	f, found := r.all(of)[name]
	return f, found
}

// Keys gives the names of a type, in order.
func (r registry) Keys(of consts.PluginType) []string {
	var names []string
	for name := range r.all(of) {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Contains tells whether there is such a plugin.
func (r registry) Contains(name string, of consts.PluginType) bool {
	_, found := r.Get(name, of)
	return found
}

// DeprecationStatus says that nothing of it is outdated.
func (r registry) DeprecationStatus(name string, of consts.PluginType) (consts.DeprecationStatus, bool) {
	if r.Contains(name, of) {
		return consts.Supported, true
	}
	return consts.Unknown, false
}

// IsBuiltinEntPlugin says that none is of the enterprise edition.
func (registry) IsBuiltinEntPlugin(string, consts.PluginType) bool { return false }
