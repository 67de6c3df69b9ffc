const UID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns whether a text is a UID as the API server gives them, and as file systems and partition tables spell theirs on Linux. */
export const isUid = (text: unknown): text is string => typeof text === 'string' && UID.test(text);
