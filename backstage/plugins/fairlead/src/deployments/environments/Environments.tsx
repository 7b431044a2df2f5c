import { Flex } from '@backstage/ui';
import { useLiveQuery } from '../../client';
import { Answer, useSome } from '../../parts';
import { Heading } from '../Facts';
import { EnvironmentCard } from './EnvironmentCard';
import styles from './Environments.module.css';
import {
  EnvironmentsDocument,
  type EnvironmentsQuery,
} from './environments.generated';
import { NoEnvironments } from './NoEnvironments';

const minute = 60_000;

type Declared = NonNullable<EnvironmentsQuery['serviceBrief']>['environments'];

/** Each asks for itself: no more do than one looks at. */
const Cards = (props: { of: Declared; service: string }) => {
  const [some, more] = useSome(props.of, 12);
  return (
    <>
      <div className={styles.grid}>
        {some.map(e => (
          <EnvironmentCard
            key={e.name ?? e.value}
            service={props.service}
            environment={{ ...e, name: e.name ?? e.value }}
          />
        ))}
      </div>
      {more}
    </>
  );
};

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
          <Cards of={data.serviceBrief?.environments ?? []} {...props} />
        )}
      </Answer>
    </Flex>
  );
};
