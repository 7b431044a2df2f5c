import { parseEntityRef } from '@backstage/catalog-model';
import { Flex, Text } from '@backstage/ui';
import { Code, Snippet } from '../Facts';

const example = (name: string) => `spec:
  fairlead:
    deployRepo: https://git.example.com/shop/deploy
    environments:
      - name: staging
        path: apps/${name}/overlays/staging
        argocd: {instance: main, app: ${name}-staging}
      - name: production
        protected: true
        path: apps/${name}/overlays/production
        argocd: {instance: main, app: ${name}}
`;

/** Tells how a service comes by environments. */
export const NoEnvironments = (props: { service: string }) => {
  const { name } = parseEntityRef(props.service);
  return (
    <Flex direction="column" gap="3">
      <Text as="p">
        The catalog knows of no environments of {name}. Add them to its{' '}
        <Code>catalog-info.yaml</Code>, with where they are described and which
        application of Argo CD deploys them:
      </Text>
      <Snippet text={example(name)} what="the example" />
      <Text as="p" color="secondary">
        On the command line, this tells which file and which lines:
      </Text>
      <Snippet
        text="fairlead catalog coverage --missing deploy"
        what="the command"
      />
    </Flex>
  );
};
