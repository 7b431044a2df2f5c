import { stringifyEntityRef } from '@backstage/catalog-model';
import { useEntity } from '@backstage/plugin-catalog-react';
import { Flex } from '@backstage/ui';
import { Connected } from '../client';
import { Acts } from './Acts';
import { EndLeases } from './EndLeases';
import { HeldPreviews } from './HeldPreviews';
import { Leases } from './Leases';
import { Pending } from './Pending';
import { Section } from './Section';
import { useHeldPreviews, useLeases, usePending } from './useTraces';

const Tab = () => {
  const service = stringifyEntityRef(useEntity().entity);
  const leases = useLeases({ service });
  const previews = useHeldPreviews({ service });
  const pending = usePending({ target: service });
  return (
    <Flex direction="column" gap="6">
      <Section title="Waiting for approval">
        <Pending of={pending} none="No request about it is pending." />
      </Section>
      <Section
        title="Credentials on loan"
        action={
          <EndLeases
            whose={{ kind: 'service', name: service }}
            onDone={leases.refresh}
          />
        }
      >
        <Leases of={leases} none="None of its credentials is on loan." />
      </Section>
      <Section title="Previews">
        <HeldPreviews of={previews} none="No previews of it are running." />
      </Section>
      <Acts target={service} />
    </Flex>
  );
};

/** The tab of a component that shows what agents do to it. */
export const AgentsTab = () => (
  <Connected>
    <Tab />
  </Connected>
);
