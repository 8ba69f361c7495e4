import tseslint from 'typescript-eslint';

// Node-free rooms compile without Node types (tsconfig.pure.json) and take time and chance as arguments.
const nodeFree = [
  'stdx',
  'domain',
  'wire',
  'service-protocol',
  'storage',
  'log',
  'metadata',
  'state-machine',
  'attempt',
  'cluster',
];
// Still rooms, in addition, run to completion: nothing in them suspends.
const still = ['domain', 'wire', 'service-protocol', 'state-machine', 'attempt', 'cluster'];

const timeAndChance = [
  ["MemberExpression[object.name='Date'][property.name='now']", 'Time arrives as an argument.'],
  ["NewExpression[callee.name='Date'][arguments.length=0]", 'Time arrives as an argument.'],
  [
    "MemberExpression[object.name='Math'][property.name='random']",
    'Chance arrives as an argument.',
  ],
  ["CallExpression[callee.property.name='localeCompare']", 'Order must not depend on locale.'],
];
const suspension = [
  [':function[async=true]', 'This room runs to completion.'],
  ['AwaitExpression', 'This room runs to completion.'],
];
const ban = (...groups) => [
  'error',
  ...groups.flat().map(([selector, message]) => ({ selector, message })),
];
const sources = (rooms) => rooms.map((room) => `packages/${room}/src/**/*.ts`);
const tests = ['**/*.test.ts', '**/contract/**', 'test/**', 'tools/**'];

export default tseslint.config(
  { ignores: ['**/dist/**', '**/gen/**', '**/*.mjs', '**/*.cjs', '**/*.js', '**/*.d.ts'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
  },
  {
    rules: {
      eqeqeq: 'error',
      'max-params': ['warn', 3],
      'max-lines-per-function': ['warn', { max: 70, skipComments: true, skipBlankLines: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      // A parameter that only holds a place says so with an underscore.
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
    },
  },
  {
    files: sources(nodeFree),
    ignores: tests,
    rules: {
      'no-restricted-imports': ['error', { patterns: ['node:*'] }],
      'no-restricted-syntax': ban(timeAndChance),
    },
  },
  {
    files: sources(still),
    ignores: tests,
    rules: { 'no-restricted-syntax': ban(timeAndChance, suspension) },
  },
  {
    files: tests,
    ...tseslint.configs.disableTypeChecked,
  },
  {
    files: tests,
    rules: { 'max-lines-per-function': 'off', '@typescript-eslint/no-non-null-assertion': 'off' },
  },
);
