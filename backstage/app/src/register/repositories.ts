import type { AnalyzeResult } from '@backstage/plugin-catalog-import';
import type { catalogApiRef } from '@backstage/plugin-catalog-react';

type Locations = Extract<AnalyzeResult, { type: 'locations' }>['locations'];
type Analyze = (url: string) => Promise<AnalyzeResult>;

/** What is asked about repositories. */
export interface Known {
  catalogApi: Pick<typeof catalogApiRef.T, 'analyzeLocation'>;
  scmIntegrationsApi: { byUrl(url: string): { type: string } | undefined };
}

const isFile = (url: URL) =>
  [url.pathname, url.searchParams.get('path')].some(path =>
    path?.match(/\.ya?ml$/),
  );

/** The forges at which Backstage's own wizard takes a repository. */
const itsOwn = ['github', 'azure'];

/** The catalog files that the catalog has from a repository, with what is in each. */
async function filesOf(catalog: Known['catalogApi'], repository: string) {
  const { existingEntityFiles } = await catalog.analyzeLocation({
    location: { type: 'url', target: repository },
  });
  const files = new Map<string, Locations[number]>();
  for (const { location, isRegistered, entity } of existingEntityFiles) {
    const { target } = location;
    const { name, namespace = 'default' } = entity.metadata;
    const file = files.get(target);
    files.set(target, {
      target,
      exists: isRegistered,
      entities: [
        ...(file?.entities ?? []),
        { kind: entity.kind, namespace, name },
      ],
    });
  }
  return [...files.values()];
}

/**
 * Tells of a repository at any forge what the catalog has from it, and else which
 * URL is wanted. What Backstage takes itself it goes on to take.
 */
export const withRepositories =
  (analyze: Analyze, { catalogApi, scmIntegrationsApi }: Known): Analyze =>
  async url => {
    const forge = scmIntegrationsApi.byUrl(url)?.type ?? '';
    if (isFile(new URL(url)) || itsOwn.includes(forge)) return analyze(url);
    const locations = await filesOf(catalogApi, url);
    if (!locations.length) {
      throw new Error(
        'The catalog has nothing from this repository yet. Give the URL of its catalog file: open its catalog-info.yaml where the repository is, and copy the address of that page.',
      );
    }
    return { type: 'locations', locations };
  };
