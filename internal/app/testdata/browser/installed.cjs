// Fairlead's pages in a minimal app that has its packages installed.
const { walk } = require('./lib.cjs');

walk(async ({ open }) => {
  await open('previews', '/fairlead/previews', 'No previews are there');
  await open('approvals', '/fairlead/approvals', 'Nothing waits for you');
  await open('entity', '/catalog/default/component/checkout', 'Service brief', 'Work on it');
  await open('tab', '/catalog/default/component/checkout/previews', 'No previews are there');
});
