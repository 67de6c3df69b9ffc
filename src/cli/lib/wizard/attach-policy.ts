export const ATTACH_POLICY = {
  of: 'attachPolicy',
  message: 'When to attach the device to its node:',
  names: { Always: 'always', OnDemand: 'while a pod needs it' },
} as const;
