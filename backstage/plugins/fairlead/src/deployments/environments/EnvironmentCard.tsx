import {
  Badge,
  Card,
  CardBody,
  CardFooter,
  CardHeader,
  Flex,
  Link,
  Text,
} from '@backstage/ui';
import { RiLockLine } from '@remixicon/react';
import { useRef } from 'react';
import { useChanges, useLiveQuery } from '../../client';
import { FaultPanel, Waiting } from '../../parts';
import { Heading, isWeb, Row } from '../Facts';
import { ProposalChangesDocument } from '../proposals/proposals.generated';
import { ProposeButton } from '../proposals/ProposeDialog';
import { RollbackButton } from '../proposals/RollbackDialog';
import { DeploymentHealthDocument } from './environments.generated';
import { Health, type HealthAnswer } from './Health';
import styles from '../../parts/long.module.css';

/** An environment, as the service's catalog entry has it. */
export interface Environment {
  name: string;
  /** Where it runs. */
  value: string;
  /** Its folder in the deploy repository. */
  path: string | null;
  protected: boolean;
}

interface Props {
  service: string;
  environment: Environment;
}

const every = 15_000; // nothing tells of what Argo CD sees

/** How a service does in an environment, and what can be done about it. */
export const EnvironmentCard = ({ service, environment }: Props) => {
  const { name, value } = environment;
  const health = useLiveQuery({
    query: DeploymentHealthDocument,
    variables: { service, environment: name },
    every,
  });
  useChanges(
    [{ query: ProposalChangesDocument, variables: { service } }],
    health.refresh,
  );
  const last = useRef<HealthAnswer>();
  const now = health.data?.deploymentHealth;
  if (now) last.current = now;
  // What was last known stays while it cannot be asked; its age is beside it.
  const known = now ?? (health.fault?.code === 'unavailable' && last.current);
  const images = known ? known.live?.images.map(i => i.name) : undefined;
  return (
    <Card
      role="region"
      aria-label={`Environment ${name}`}
      className={styles.long}
    >
      <CardHeader>
        <Row apart>
          <Row>
            <Heading small>{name}</Heading>
            {environment.protected && (
              <Badge size="small" icon={<RiLockLine />}>
                protected
              </Badge>
            )}
          </Row>
          {isWeb(value) && (
            <Link href={value} target="_blank" rel="noopener">
              {new URL(value).host}
            </Link>
          )}
        </Row>
      </CardHeader>
      <CardBody>
        <Flex direction="column" gap="3">
          {health.loading && <Waiting />}
          {health.fault && (
            <FaultPanel fault={health.fault} onRetry={health.refresh} />
          )}
          {known && <Health of={known} />}
        </Flex>
      </CardBody>
      <CardFooter>
        <Row>
          <ProposeButton
            service={service}
            environment={environment}
            images={images}
          />
          <RollbackButton service={service} environment={environment} />
          {environment.path && (
            <Text variant="body-x-small" color="secondary">
              {environment.path}
            </Text>
          )}
        </Row>
      </CardFooter>
    </Card>
  );
};
