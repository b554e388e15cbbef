/* The message for a program that sees no device because of CUDA_VISIBLE_DEVICES. */
#ifndef TESSERA_VISIBLE_DEVICES_H
#define TESSERA_VISIBLE_DEVICES_H

/* To be called if the program sees no device: writes the message once if this is the reason. Any thread. */
void visible_devices_say_none(void);

#endif
