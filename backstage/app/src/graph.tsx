import {
  coreExtensionData,
  createFrontendModule,
} from '@backstage/frontend-plugin-api';
import catalogGraphPlugin from '@backstage/plugin-catalog-graph/alpha';
import { Renewed } from '@fairlead/backstage-plugin';

/** The graph keeps what it has fetched, and is drawn anew upon changes. */
const card = catalogGraphPlugin
  .getExtension('entity-card:catalog-graph/relations')
  .override({
    *factory(original) {
      const output = original();
      yield* output;
      yield coreExtensionData.reactElement(
        <Renewed>{output.get(coreExtensionData.reactElement)}</Renewed>,
      );
    },
  });

export const graphModule = createFrontendModule({
  pluginId: 'catalog-graph',
  extensions: [card],
});
