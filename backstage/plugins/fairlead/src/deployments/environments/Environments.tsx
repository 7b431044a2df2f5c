import { Flex } from '@backstage/ui';
import { useLiveQuery } from '../../client';
import { Answer } from '../../parts';
import { Heading } from '../Facts';
import { EnvironmentCard } from './EnvironmentCard';
import styles from './Environments.module.css';
import { EnvironmentsDocument } from './environments.generated';
import { NoEnvironments } from './NoEnvironments';

const minute = 60_000;

/** The environments of a service beside each other. */
export const Environments = (props: { service: string }) => {
  const brief = useLiveQuery({
    query: EnvironmentsDocument,
    variables: { service: props.service },
    every: minute,
  });
  return (
    <Flex direction="column" gap="3">
      <Heading>Environments</Heading>
      <Answer
        of={brief}
        empty={{
          when: d => !d.serviceBrief?.environments.length,
          text: <NoEnvironments service={props.service} />,
        }}
      >
        {data => (
          <div className={styles.grid}>
            {data.serviceBrief?.environments.map(e => (
              <EnvironmentCard
                key={e.name ?? e.value}
                service={props.service}
                environment={{ ...e, name: e.name ?? e.value }}
              />
            ))}
          </div>
        )}
      </Answer>
    </Flex>
  );
};
