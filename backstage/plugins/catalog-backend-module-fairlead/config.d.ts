import type { SchedulerServiceTaskScheduleDefinitionConfig } from '@backstage/backend-plugin-api';
import type { JsonObject } from '@backstage/types';

export interface Config {
  catalog?: {
    providers?: {
      /**
       * Fairlead servers whose entities the catalog takes in, each under an id
       * that stays: what the catalog holds of a server goes with its id.
       */
      fairlead?: {
        [id: string]: {
          /** Address of the server, such as https://fairlead.example.com. */
          url: string;
          /**
           * Token of an identity that may read the catalog; what it may not see
           * is not taken in.
           * @visibility secret
           */
          token: string;
          /**
           * Which entities, as a filter predicate of Backstage, such as
           * {kind: {$in: [Component, API]}}; by default all but Locations, which
           * are left out in any case.
           */
          filter?: JsonObject;
          /**
           * When everything is read anew, besides the changes that arrive as
           * they happen; by default every 15 minutes.
           */
          schedule?: SchedulerServiceTaskScheduleDefinitionConfig;
        };
      };
    };
  };
}
