// Five projects: `unit` touches nothing outside the process but loopback; `integration` and
// `thorough` need root, loop devices, sshd, kubectl; `cluster` runs against real Kubernetes, real
// Salt and real nodes, which it builds first.
const common = {
  extensionsToTreatAsEsm: ['.ts', '.sh', '.yaml'],
  transform: {
    '\\.(sh|yaml)$': '<rootDir>/scripts/loaders/jest.mjs',
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { target: 'es2024', parser: { syntax: 'typescript' } },
        module: { type: 'es6' },
      },
    ],
  },
  testEnvironment: 'node',
};

export default {
  // By default a machine with two cores would use one.
  maxWorkers: '100%',
  // Ends a test that hangs. No test passes or fails by how long it takes: a busy machine may need
  // ten times as long as one at rest. Jest reads it here only, not in a project.
  testTimeout: 180_000,
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: [
        '/node_modules/',
        '<rootDir>/test/(integration|thorough|cluster|fuzz)/',
      ],
    },
    {
      ...common,
      displayName: 'integration',
      testMatch: ['<rootDir>/test/integration/**/*.test.ts'],
    },
    {
      ...common,
      displayName: 'thorough',
      testMatch: ['<rootDir>/test/thorough/**/*.test.ts'],
    },
    {
      ...common,
      displayName: 'fuzz',
      testMatch: ['<rootDir>/test/fuzz/**/*.test.ts'],
    },
    {
      ...common,
      displayName: 'cluster',
      testMatch: ['<rootDir>/test/cluster/**/*.test.ts'],
    },
  ],
};
