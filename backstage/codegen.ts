import type { CodegenConfig } from '@graphql-codegen/cli';

/** Types and documents beside each .graphql file, from the server's schema. */
const config: CodegenConfig = {
  schema: process.env.FAIRLEAD_SCHEMA ?? '../graphql/schema.graphql',
  documents: ['plugins/*/src/**/*.graphql'],
  generates: {
    'plugins/': {
      preset: 'near-operation-file',
      presetConfig: { extension: '.generated.ts' },
      plugins: [
        { add: { content: '/* eslint-disable */' } },
        'typescript-operations',
        'typed-document-node',
      ],
      config: {
        skipTypename: true,
        useTypeImports: true,
        scalars: { Time: 'string', JSON: 'unknown', Filter: 'unknown' },
      },
    },
  },
};

export default config;
