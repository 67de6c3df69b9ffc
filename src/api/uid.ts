const UID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Reports whether a text is a UID as the API server, file systems and
 * partition tables on Linux write it.
 */
export const isUid = (text: unknown): text is string => typeof text === 'string' && UID.test(text);
