// Three projects: `unit` touches nothing outside the process but loopback; `integration` needs root, loop devices, sshd,
// kubectl; `cluster` runs against real Kubernetes, real Salt and real nodes, which it builds first.
const common = {
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
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
  // What takes a second at rest may take five where other work has the processors. Jest takes it from here alone, and not from
  // a project.
  testTimeout: 20_000,
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/integration/', '<rootDir>/test/cluster/'],
    },
    {
      ...common,
      displayName: 'integration',
      testMatch: ['<rootDir>/test/integration/**/*.test.ts'],
    },
    {
      ...common,
      displayName: 'cluster',
      testMatch: ['<rootDir>/test/cluster/**/*.test.ts'],
    },
  ],
};
