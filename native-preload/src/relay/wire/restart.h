/* A program that cannot share by space begins again, in the same process, to share by time. */
#ifndef TESSERA_RELAY_RESTART_H
#define TESSERA_RELAY_RESTART_H

/*
 * Executes the program again with the arguments that it has, its present environment and TESSERA_SHARE=time. Returns
 * only if that is impossible, and says why: in the child of a fork, whose arguments are its parent's, without the
 * vendor's driver, or if exec fails. The program has to do its earlier work again, so this happens before its first launch only.
 */
void restart_in_time_sharing(void);

#endif
