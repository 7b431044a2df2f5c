import { createApp } from '@backstage/frontend-defaults';
import catalogPlugin from '@backstage/plugin-catalog/alpha';
import fairlead from '@fairlead/backstage-plugin';
import { graphModule } from './graph';
import { listModules } from './lists';
import { navModule } from './nav';
import { signInModule } from './signIn';

export default createApp({
  features: [
    catalogPlugin,
    fairlead,
    graphModule,
    ...listModules,
    navModule,
    signInModule,
  ],
});
