package app

// proposalOperations are those of changes that are proposed.
func proposalOperations() []operation {
	return []operation{
		{name: "get_proposal", paths: []string{"id"}, method: "GET", rest: "/api/v1/proposals/none", field: "proposal", graph: `proposal(id: "none") { id }`, tool: "get_proposal", args: map[string]any{"id": "none"}},
		{name: "propose_answer", paths: []string{"id", "state", "branch", "path", "plan.hash"}, method: "POST", rest: "/api/v1/knowledge/answers", field: "proposeAnswer",
			body:  `{"question":"How is parity kept?","answer":"By a test.","appliesTo":["checkout"],"key":"parity"}`,
			graph: `mutation { proposeAnswer(question: "How is parity kept?", answer: "By a test.", appliesTo: ["checkout"], key: "parity") { id state branch path plan { hash } } }`,
			tool:  "propose_answer", args: map[string]any{"question": "How is parity kept?", "answer": "By a test.", "applies_to": []string{"checkout"}, "key": "parity"}},
		{name: "propose_change", paths: []string{"id", "state", "branch", "title", "paths", "plan.hash"}, method: "POST", rest: "/api/v1/proposals", field: "proposeChange",
			body:  `{"service":"checkout","environment":"staging","reason":"load","change":{"set":[{"path":"images[0].newTag","value":"1.9.0"}]},"key":"parity-change"}`,
			graph: `mutation { proposeChange(service: "checkout", environment: "staging", reason: "load", change: {set: [{path: "images[0].newTag", value: "1.9.0"}]}, key: "parity-change") { id state branch title paths plan { hash } } }`,
			tool:  "propose_change", args: map[string]any{"service": "checkout", "environment": "staging", "reason": "load", "key": "parity-change",
				"change": map[string]any{"set": []any{map[string]any{"path": "images[0].newTag", "value": "1.9.0"}}}}},
		{name: "propose_rollback", paths: []string{"id"}, method: "POST", rest: "/api/v1/rollbacks", field: "proposeRollback", body: `{"service":"checkout","environment":"production","reason":"orders fail"}`,
			graph: `mutation { proposeRollback(service: "checkout", environment: "production", reason: "orders fail") { id } }`,
			tool:  "propose_rollback", args: map[string]any{"service": "checkout", "environment": "production", "reason": "orders fail"}},
		{name: "get_change_figures", paths: []string{"total.proposals", "total.deployments", "total.refused", "teams[].name", "services[].name", "agents[].proposals"}, method: "GET", rest: "/api/v1/changes/figures?period=24h&service=checkout", field: "changeFigures",
			graph: `changeFigures(period: "24h", service: "checkout") { total { proposals deployments refused } teams { name } services { name } agents { proposals } }`},
		{name: "list_proposals", paths: []string{"items[].id", "items[].state", "items[].service", "items[].person", "items[].plan.hash"}, method: "GET", rest: "/api/v1/proposals", field: "proposals",
			graph: "proposals { items { id state service person plan { hash } } }", tool: "list_proposals"},
		{name: "promote_answer", paths: []string{"id"}, method: "POST", rest: "/api/v1/knowledge/skills", body: `{"handle":"doc://checkout/none.md"}`, field: "promoteAnswer",
			graph: `mutation { promoteAnswer(handle: "doc://checkout/none.md") { id } }`, tool: "promote_answer", args: map[string]any{"handle": "doc://checkout/none.md"}},
	}
}
