/* cuGetProcAddress answers with our hook exactly where the driver answered with an entry that we wrap. */
#ifndef TESSERA_LOOKUP_H
#define TESSERA_LOOKUP_H

/* The hook of the entry whose vendor address this is; the address itself where there is none. */
void *lookup_substitute(void *address);

#endif
