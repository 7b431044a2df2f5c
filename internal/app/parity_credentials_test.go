package app

// credentialOperations are those of credentials on loan.
func credentialOperations() []operation {
	ask := `{"service":"checkout","name":"db-readonly","environment":"staging","ttl":"10m","purpose":"test","key":"parity"}`
	return []operation{
		{name: "request_credentials", paths: []string{"lease", "service", "name", "environment", "state", "expiresAt", "person", "agent", "purpose"}, method: "POST", rest: "/api/v1/credentials", body: ask,
			field: "requestCredentials", graph: `mutation { requestCredentials(service: "checkout", name: "db-readonly", environment: "staging", ttl: "10m", purpose: "test", key: "parity") { lease service name environment state expiresAt person agent purpose } }`,
			tool: "request_credentials", args: map[string]any{"service": "checkout", "name": "db-readonly", "environment": "staging", "ttl": "10m", "purpose": "test", "key": "parity"}},
		{name: "request_credentials", paths: []string{"lease"}, method: "POST", rest: "/api/v1/credentials", body: `{"service":"checkout","name":"../admin"}`,
			field: "requestCredentials", graph: `mutation { requestCredentials(service: "checkout", name: "../admin") { lease } }`, tool: "request_credentials", args: map[string]any{"service": "checkout", "name": "../admin"}},
		{name: "list_credentials", paths: []string{"items[].lease", "items[].service", "items[].name", "items[].person"}, method: "GET", rest: "/api/v1/credentials", field: "credentials",
			graph: "credentials { items { lease service name person } }", tool: "list_credentials"},
		{name: "get_credentials", paths: []string{"lease"}, method: "GET", rest: "/api/v1/credentials/none", field: "credential", graph: `credential(lease: "none") { lease }`},
		{name: "renew_credentials", paths: []string{"lease"}, method: "POST", rest: "/api/v1/credentials/none/renew", body: `{"ttl":"10m"}`, field: "renewCredentials",
			graph: `mutation { renewCredentials(lease: "none", ttl: "10m") { lease } }`},
		{name: "revoke_credentials", paths: []string{"lease"}, method: "DELETE", rest: "/api/v1/credentials/none", field: "revokeCredentials",
			graph: `mutation { revokeCredentials(lease: "none") { lease } }`, tool: "revoke_credentials", args: map[string]any{"lease": "none"}},
		{name: "revoke_all_credentials", paths: []string{"done"}, method: "POST", rest: "/api/v1/credentials/revoke-all", body: `{"service":"checkout","agent":"nobody"}`, field: "revokeAllCredentials",
			graph: `mutation { revokeAllCredentials(service: "checkout", agent: "nobody") { leases done } }`},
	}
}
