// Starts GraphiQL on the address it was loaded from, with the token of the
// bar at the top. The token stays in this tab.
"use strict";
(() => {
	const endpoint = location.origin + location.pathname;
	const input = document.getElementById("token");
	const who = document.getElementById("who");
	const root = ReactDOM.createRoot(document.getElementById("graphiql"));
	const start = new URLSearchParams(location.search);
	const welcome = `# Paste a token above, press Enter, and run this.
# The book at the left explains every field;
# Ctrl+Space completes.
query Services {
  entities(
    first: 5
    filter: "kind=component"
    orderBy: {field: "metadata.name"}
  ) {
    totalCount
    edges {
      node {
        ref
        owner { ref title }
        dependsOn { ref }
      }
    }
  }
}
`;

	const store = {
		get() { try { return sessionStorage.getItem("fairlead-token") || ""; } catch { return ""; } },
		set(v) { try { sessionStorage.setItem("fairlead-token", v); } catch { /* the tab forgets */ } },
	};
	let token = store.get();
	input.value = token;

	function authorization(headers) {
		const named = Object.keys(headers || {}).find((k) => k.toLowerCase() === "authorization");
		if (named) return headers[named];
		return token && "Bearer " + token;
	}

	async function send(params, headers) {
		const auth = authorization(headers);
		const response = await fetch(endpoint, {
			method: "POST",
			headers: {
				...headers,
				"Accept": "application/graphql-response+json",
				"Content-Type": "application/json",
				...(auth ? { Authorization: auth } : {}),
			},
			credentials: "omit",
			body: JSON.stringify(params),
		});
		return response.json();
	}

	// subscribe runs one subscription on a connection of its own.
	function subscribe(params, headers) {
		return {
			subscribe(observer) {
				const socket = new WebSocket(endpoint.replace(/^http/, "ws"), "graphql-transport-ws");
				let over = false;
				const finish = (tell) => { if (!over) { over = true; tell(); socket.close(1000); } };
				const say = (message) => socket.send(JSON.stringify(message));
				socket.onopen = () => say({ type: "connection_init", payload: { Authorization: authorization(headers) || "" } });
				socket.onclose = (e) => finish(() => observer.error(new Error(`The connection was closed: ${e.code} ${e.reason}`)));
				socket.onmessage = (e) => {
					const m = JSON.parse(e.data);
					if (m.type === "connection_ack") say({ id: "1", type: "subscribe", payload: params });
					else if (m.type === "ping") say({ type: "pong" });
					else if (m.type === "next") observer.next(m.payload);
					else if (m.type === "error") finish(() => { observer.next({ errors: m.payload }); observer.complete(); });
					else if (m.type === "complete") finish(() => observer.complete());
				};
				return { unsubscribe() { finish(() => {}); } };
			},
		};
	}

	function isSubscription(params, document) {
		const operations = (document ? document.definitions : []).filter((d) => d.kind === "OperationDefinition");
		const chosen = operations.find((d) => !params.operationName || d.name?.value === params.operationName);
		return chosen?.operation === "subscription";
	}

	function fetcher(params, options = {}) {
		return isSubscription(params, options.documentAST) ? subscribe(params, options.headers) : send(params, options.headers);
	}

	async function greet() {
		who.textContent = "";
		const answer = await send({ query: "{ whoami { subject agent anonymous } }" }).catch(() => ({}));
		const me = answer.data?.whoami;
		if (me) who.textContent = me.anonymous ? "anonymous" : me.subject + (me.agent ? " by " + me.agent : "");
		else who.textContent = answer.errors?.[0]?.message || "no answer";
	}

	function render() {
		root.render(React.createElement(GraphiQL, {
			key: token, // a new token reads the schema anew
			fetcher,
			defaultQuery: welcome,
			query: start.get("query") || undefined,
			variables: start.get("variables") || undefined,
			operationName: start.get("operationName") || undefined,
			defaultEditorToolsVisibility: "variables",
			shouldPersistHeaders: false,
			isHeadersEditorEnabled: true,
		}));
		greet();
	}

	document.getElementById("bar").addEventListener("submit", (e) => e.preventDefault());
	input.addEventListener("change", () => {
		token = input.value.trim();
		store.set(token);
		render();
	});
	render();
})();
