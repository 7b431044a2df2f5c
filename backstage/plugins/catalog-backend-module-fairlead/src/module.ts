import {
  coreServices,
  createBackendModule,
} from '@backstage/backend-plugin-api';
import { catalogProcessingExtensionPoint } from '@backstage/plugin-catalog-node';
import { readProviders } from './config';
import { openProvided } from './provided';
import { FairleadEntityProvider } from './provider';
import { connectSource } from './source';

/**
 * Feeds the catalog from the servers of catalog.providers.fairlead.
 *
 * @public
 */
export const catalogModuleFairlead = createBackendModule({
  pluginId: 'catalog',
  moduleId: 'fairlead',
  register(reg) {
    reg.registerInit({
      deps: {
        catalog: catalogProcessingExtensionPoint,
        config: coreServices.rootConfig,
        database: coreServices.database,
        lifecycle: coreServices.lifecycle,
        logger: coreServices.logger,
        scheduler: coreServices.scheduler,
      },
      async init({ catalog, config, database, lifecycle, logger, scheduler }) {
        for (const one of readProviders(config)) {
          const provider = new FairleadEntityProvider({
            id: one.id,
            url: one.url,
            source: connectSource(one),
            provided: name => openProvided(database, name),
            schedule: scheduler.createScheduledTaskRunner(one.schedule),
            logger: logger.child({ provider: `fairlead-provider:${one.id}` }),
          });
          lifecycle.addShutdownHook(() => provider.stop());
          catalog.addEntityProvider(provider);
        }
      },
    });
  },
});
