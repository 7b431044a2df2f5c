package demo

// service is one service of the shop, with its repository.
type service struct {
	Name, Title, Description string
	Type, Lifecycle          string
	Team, System             string
	Tags                     []string
	Consumes, Needs          []string
	API, Database, Preview   bool
	// Seed tells that previews may have a database of their own.
	Seed bool
	// Bare services declare nothing for agents: it is found in their files.
	Bare      bool
	Objective string
	Pager     string
	// Repos is the folder of all repositories as a URL.
	Repos string
}

// group is a team, a domain, a system or a person, as their templates need.
type group struct {
	Name, Title, Description string
	Team, Domain             string
	Teams                    []string
}

func teams() []group {
	return []group{
		{Name: "storefront", Title: "Storefront", Description: "What customers see."},
		{Name: "payments", Title: "Payments", Description: "Money in, money out."},
		{Name: "fulfilment", Title: "Fulfilment", Description: "From paid to delivered."},
		{Name: "data", Title: "Data", Description: "Reports and recommendations."},
		{Name: "platform", Title: "Platform", Description: "What the other teams build on."},
	}
}

func people() []group {
	return []group{
		{Name: "alice", Title: "Alice Ahlberg", Teams: []string{"storefront", "payments", "fulfilment"}},
		{Name: "bob", Title: "Bob Brandt", Teams: []string{"payments"}},
		{Name: "carol", Title: "Carol Chen", Teams: []string{"data"}},
		{Name: "sam", Title: "Sam Sato", Teams: []string{"platform"}},
	}
}

func domains() []group {
	return []group{
		{Name: "commerce", Description: "Selling and delivering.", Team: "storefront"},
		{Name: "foundation", Description: "What everything else stands on.", Team: "platform"},
	}
}

func systems() []group {
	return []group{
		{Name: "shop", Title: "Shop", Description: "Browsing, cart and checkout.", Team: "storefront", Domain: "commerce"},
		{Name: "money", Title: "Money", Description: "Payments, fraud and the ledger.", Team: "payments", Domain: "commerce"},
		{Name: "delivery", Title: "Delivery", Description: "Stock, shipping and messages.", Team: "fulfilment", Domain: "commerce"},
		{Name: "insight", Title: "Insight", Description: "What the numbers say.", Team: "data", Domain: "foundation"},
		{Name: "accounts", Title: "Accounts", Description: "Who customers are.", Team: "platform", Domain: "foundation"},
	}
}

func services() []service {
	return []service{
		{Name: "web", Title: "Web shop", Description: "The pages of the shop.", Type: "website", Team: "storefront", System: "shop", Tags: []string{"frontend", "tier1"}, Consumes: []string{"cart", "checkout", "search", "identity"}, Preview: true, Objective: "0.995"},
		{Name: "cart", Title: "Cart", Description: "Keeps what a customer means to buy.", Team: "storefront", System: "shop", Tags: []string{"go", "tier1"}, Consumes: []string{"pricing"}, Needs: []string{"resource:cart-db"}, API: true, Database: true, Preview: true, Objective: "0.999"},
		{Name: "checkout", Title: "Checkout", Description: "Turns a cart into a paid order.", Team: "storefront", System: "shop", Tags: []string{"go", "tier1", "pci"}, Consumes: []string{"payments", "pricing", "orders", "identity"}, Needs: []string{"component:cart", "resource:checkout-db"}, API: true, Database: true, Preview: true, Objective: "0.999"},
		{Name: "search", Title: "Search", Description: "Finds products.", Team: "storefront", System: "shop", Tags: []string{"java", "tier2"}, Consumes: []string{"pricing"}, API: true, Preview: true, Objective: "0.99"},
		{Name: "pricing", Title: "Pricing", Description: "Knows what everything costs, today and for whom.", Team: "storefront", System: "shop", Tags: []string{"kotlin", "tier1"}, Needs: []string{"resource:pricing-db"}, API: true, Database: true, Preview: true, Objective: "0.999"},
		{Name: "payments", Title: "Payments", Description: "Charges cards and pays out refunds.", Team: "payments", System: "money", Tags: []string{"go", "tier1", "pci"}, Consumes: []string{"fraud", "ledger"}, Needs: []string{"resource:payments-db"}, API: true, Database: true, Preview: true, Objective: "0.9995"},
		{Name: "fraud", Title: "Fraud check", Description: "Scores payments for risk.", Team: "payments", System: "money", Tags: []string{"python", "ml", "tier1"}, API: true, Preview: true, Objective: "0.999"},
		{Name: "ledger", Title: "Ledger", Description: "Books every movement of money, for good.", Team: "payments", System: "money", Tags: []string{"go", "tier1"}, Needs: []string{"resource:ledger-db"}, API: true, Database: true, Preview: true, Objective: "0.9999"},
		{Name: "orders", Title: "Orders", Description: "Keeps orders from paid to delivered.", Team: "fulfilment", System: "delivery", Tags: []string{"kotlin", "tier1"}, Consumes: []string{"inventory", "shipping"}, Needs: []string{"resource:orders-db"}, API: true, Database: true, Preview: true, Seed: true, Objective: "0.999"},
		{Name: "inventory", Title: "Inventory", Description: "Counts what is in stock.", Team: "fulfilment", System: "delivery", Tags: []string{"go", "tier2"}, Needs: []string{"resource:inventory-db"}, API: true, Database: true, Preview: true, Bare: true, Objective: "0.999"},
		{Name: "shipping", Title: "Shipping", Description: "Hands parcels to carriers and follows them.", Team: "fulfilment", System: "delivery", Tags: []string{"typescript", "tier2"}, Consumes: []string{"notifications"}, API: true, Preview: true, Objective: "0.99"},
		{Name: "notifications", Title: "Notifications", Description: "Sends mail and messages to customers.", Team: "fulfilment", System: "delivery", Tags: []string{"typescript", "tier3"}, API: true, Preview: true, Bare: true, Objective: "0.99"},
		{Name: "identity", Title: "Identity", Description: "Signs customers in.", Team: "platform", System: "accounts", Tags: []string{"go", "tier1"}, Needs: []string{"resource:identity-db"}, API: true, Database: true, Objective: "0.9995"},
		{Name: "recommendations", Title: "Recommendations", Description: "Suggests what else a customer may like.", Team: "data", System: "insight", Tags: []string{"python", "ml", "experimental"}, Lifecycle: "experimental", Consumes: []string{"search"}, API: true, Objective: "0.95"},
	}
}

// Service is what others need to know of one service of the shop.
type Service struct {
	Name, Team string
	// Database tells that it has one, and lends its users.
	Database bool
	// Deployed tells that its catalog file says where it is deployed.
	Deployed bool
}

// Services are those of the shop.
func Services() []Service {
	all := services()
	out := make([]Service, len(all))
	for i, s := range all {
		out[i] = Service{Name: s.Name, Team: s.Team, Database: s.Database, Deployed: !s.Bare}
	}
	return out
}

// Members are the people of the company, each with their teams.
func Members() map[string][]string {
	out := map[string][]string{}
	for _, p := range people() {
		out[p.Name] = p.Teams
	}
	return out
}

// Teams are the names of the company's teams.
func Teams() []string {
	var out []string
	for _, t := range teams() {
		out = append(out, t.Name)
	}
	return out
}
