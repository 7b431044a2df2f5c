import { withRepositories, type Known } from './repositories';

const repository = 'https://git.example.com/acme/shop';
const found = (path: string, kind: string, name: string) => ({
  location: { type: 'url', target: `${repository}/src/branch/main/${path}` },
  isRegistered: true,
  entity: { apiVersion: 'backstage.io/v1alpha1', kind, metadata: { name } },
});

function open(...existingEntityFiles: object[]) {
  const analyzeLocation = jest.fn(async () => ({
    existingEntityFiles,
    generateEntities: [],
  }));
  const own = jest.fn(async () => ({ type: 'locations', locations: [] }));
  const analyze = withRepositories(own as any, {
    catalogApi: { analyzeLocation } as unknown as Known['catalogApi'],
    scmIntegrationsApi: {
      byUrl: url =>
        url.startsWith('https://github.com/') ? { type: 'github' } : undefined,
    },
  });
  return { analyze, own, analyzeLocation };
}

describe('withRepositories', () => {
  it('tells what the catalog has from a repository, by its files', async () => {
    const { analyze, own, analyzeLocation } = open(
      found('catalog-info.yaml', 'Component', 'cart'),
      found('catalog-info.yaml', 'API', 'cart-api'),
      found('web/catalog-info.yaml', 'Component', 'web'),
    );
    const result = await analyze(repository);
    expect(analyzeLocation).toHaveBeenCalledWith({
      location: { type: 'url', target: repository },
    });
    expect(result).toEqual({
      type: 'locations',
      locations: [
        {
          target: `${repository}/src/branch/main/catalog-info.yaml`,
          exists: true,
          entities: [
            { kind: 'Component', namespace: 'default', name: 'cart' },
            { kind: 'API', namespace: 'default', name: 'cart-api' },
          ],
        },
        {
          target: `${repository}/src/branch/main/web/catalog-info.yaml`,
          exists: true,
          entities: [{ kind: 'Component', namespace: 'default', name: 'web' }],
        },
      ],
    });
    expect(own).not.toHaveBeenCalled();
  });

  it('tells which URL is wanted where the catalog has nothing from there', async () => {
    await expect(open().analyze(repository)).rejects.toThrow(
      /nothing from this repository yet.*catalog-info.yaml/,
    );
  });

  it.each([
    `${repository}/src/branch/main/catalog-info.yaml`,
    `${repository}?path=/catalog-info.yml`,
    'https://github.com/acme/shop',
  ])('leaves %s to Backstage', async url => {
    const { analyze, own, analyzeLocation } = open();
    await analyze(url);
    expect(own).toHaveBeenCalledWith(url);
    expect(analyzeLocation).not.toHaveBeenCalled();
  });
});
