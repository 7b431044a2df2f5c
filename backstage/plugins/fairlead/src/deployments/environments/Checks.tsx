import {
  Accordion,
  AccordionPanel,
  AccordionTrigger,
  Card,
  CardBody,
  Flex,
  Link,
  Text,
} from '@backstage/ui';
import { useLiveQuery } from '../../client';
import { Long, Answer, Mark, When, type Goodness } from '../../parts';
import { Heading, isWeb, Items, Revision, Row } from '../Facts';
import { plural } from '../words';
import { CiStatusDocument, type CiStatusQuery } from './environments.generated';
import styles from '../../parts/long.module.css';

const states: Record<string, Goodness> = {
  passed: 'good',
  failed: 'bad',
  pending: 'busy',
};

type Status = NonNullable<CiStatusQuery['ciStatus']>;

const Check = ({ of }: { of: Status['checks'][number] }) => (
  <li>
    <Mark is={states[of.state] ?? 'unknown'}>{of.result ?? of.state}</Mark>{' '}
    {isWeb(of.url) ? (
      <Link href={of.url} target="_blank" rel="noopener">
        {of.name}
      </Link>
    ) : (
      of.name
    )}
    {of.required && ', required'}
    {of.optional && ', may fail'}
    {of.duration && `, ${of.duration}`}
    {[...of.failed.map(f => `failed: ${f}`), ...of.detail].map((line, i) => (
      <Text key={i} as="p" variant="body-small" color="secondary">
        <Long>{line}</Long>
      </Text>
    ))}
  </li>
);

const State = ({ of }: { of: Status }) => (
  <Flex direction="column" gap="2">
    <Row>
      <Mark is={states[of.state] ?? 'unknown'}>{of.state}</Mark>
      {of.commit && <Revision of={of.commit} what="the commit" />}
      {of.revision && <Text>on {of.revision}</Text>}
      {isWeb(of.url) && (
        <Link href={of.url} target="_blank" rel="noopener">
          The run that decided
        </Link>
      )}
      {of.observedAt && (
        <Text variant="body-x-small" color="secondary">
          asked <When at={of.observedAt} />
        </Text>
      )}
    </Row>
    {of.grounds.map(ground => (
      <Text key={ground} as="p" variant="body-small" color="secondary">
        <Long>{ground}</Long>
      </Text>
    ))}
    {of.checks.length > 0 && (
      <Accordion>
        <AccordionTrigger title={plural(of.checks.length, 'check')} />
        <AccordionPanel>
          <Items label="Checks">
            {of.checks.map((c, i) => (
              <Check key={`${i} ${c.name}`} of={c} />
            ))}
          </Items>
        </AccordionPanel>
      </Accordion>
    )}
  </Flex>
);

/** How the checks of the service's newest revision went. */
export const Checks = (props: { service: string }) => {
  const status = useLiveQuery({
    query: CiStatusDocument,
    variables: { service: props.service },
    every: 30_000,
  });
  return (
    <Flex direction="column" gap="3">
      <Heading>CI of the newest revision</Heading>
      <Card className={styles.long}>
        <CardBody>
          <Answer of={status}>
            {d => d.ciStatus && <State of={d.ciStatus} />}
          </Answer>
        </CardBody>
      </Card>
    </Flex>
  );
};
