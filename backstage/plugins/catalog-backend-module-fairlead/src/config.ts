import {
  readSchedulerServiceTaskScheduleDefinitionFromConfig,
  type SchedulerServiceTaskScheduleDefinition,
} from '@backstage/backend-plugin-api';
import type { Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import {
  readOptionalFilterPredicateFromConfig,
  type FilterPredicate,
} from '@backstage/filter-predicates';

/** One Fairlead server that the catalog is fed from. */
export interface ProviderConfig {
  id: string;
  /** Address of the server, without a slash at the end. */
  url: string;
  token: string;
  filter?: FilterPredicate;
  schedule: SchedulerServiceTaskScheduleDefinition;
}

const defaultSchedule: SchedulerServiceTaskScheduleDefinition = {
  frequency: { minutes: 15 },
  initialDelay: { minutes: 15 }, // all is read at the start besides
  timeout: { minutes: 5 },
};

function readUrl(id: string, config: Config): string {
  const text = config.getString('url');
  const at = `catalog.providers.fairlead.${id}.url`;
  if (!URL.canParse(text)) throw new InputError(`${at} is no address`);
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new InputError(`${at} must begin with https:// or http://`);
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new InputError(`${at} must be an address alone; give a token apart`);
  }
  return url.toString().replace(/\/+$/, '');
}

/** Reads catalog.providers.fairlead. */
export function readProviders(root: Config): ProviderConfig[] {
  const all = root.getOptionalConfig('catalog.providers.fairlead');
  return (all?.keys() ?? []).map(id => {
    const config = all!.getConfig(id);
    return {
      id,
      url: readUrl(id, config),
      token: config.getString('token'),
      filter: readOptionalFilterPredicateFromConfig(config, { key: 'filter' }),
      schedule: config.has('schedule')
        ? readSchedulerServiceTaskScheduleDefinitionFromConfig(
            config.getConfig('schedule'),
          )
        : defaultSchedule,
    };
  });
}
