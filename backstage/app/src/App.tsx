import { createApp } from '@backstage/frontend-defaults';
import catalogPlugin from '@backstage/plugin-catalog/alpha';
import { entityModule } from './entity';
import { graphModule } from './graph';
import { listModules } from './lists';
import { navModule } from './nav';
import { registerModule } from './register';
import { signInModule } from './signIn';

export default createApp({
  features: [
    catalogPlugin,
    entityModule,
    graphModule,
    ...listModules,
    navModule,
    registerModule,
    signInModule,
  ],
});
