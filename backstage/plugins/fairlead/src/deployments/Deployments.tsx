import { stringifyEntityRef } from '@backstage/catalog-model';
import { useEntity } from '@backstage/plugin-catalog-react';
import { Flex } from '@backstage/ui';
import { Connected } from '../client';
import { Checks } from './environments/Checks';
import { Environments } from './environments/Environments';
import { Heading } from './Facts';
import { Proposals } from './proposals/Proposals';

/** Where a service is deployed, how it does there, and what is to change. */
export const Deployments = () => {
  const service = stringifyEntityRef(useEntity().entity);
  return (
    <Connected>
      <Flex direction="column" gap="6">
        <Environments service={service} />
        <Checks service={service} />
        <Flex direction="column" gap="3">
          <Heading>Proposals</Heading>
          <Proposals filters={{ service }} />
        </Flex>
      </Flex>
    </Connected>
  );
};
