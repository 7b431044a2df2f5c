// Backstage's catalog, fed by the module beside this, for as long as standard
// input is open.
const { createBackend } = require('@backstage/backend-defaults');
const backend = createBackend();
backend.add(import('@backstage/plugin-catalog-backend'));
backend.add(import('@fairlead/backstage-plugin-catalog-backend-module'));
process.stdin.on('end', () => process.kill(process.pid, 'SIGTERM')).resume();
backend.start().catch(() => process.exit(1));
