/* The direct port: layers that do not know each other are joined here. */
#ifndef TESSERA_ENTRY_INIT_H
#define TESSERA_ENTRY_INIT_H

/* Once, before the first call of an entry of the port. Calls nothing of the driver, and starts nothing. */
void direct_prepare(void);

#endif
