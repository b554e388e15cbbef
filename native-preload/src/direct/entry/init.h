/* The direct port: connects layers that must not call each other. */
#ifndef TESSERA_ENTRY_INIT_H
#define TESSERA_ENTRY_INIT_H

/* Once, before the first call of an entry of the port. Calls nothing of the driver, and starts nothing. */
void direct_prepare(void);

#endif
