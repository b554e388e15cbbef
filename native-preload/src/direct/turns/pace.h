/*
 * Pace: while another client waits for the device, bounds outstanding work by the time that a drain would take
 * (tessera_device.pace_ns). In each stream, an event is recorded after every `window` submissions, and the submitting
 * thread waits for the event before the last one. The window follows the measured time between events, so that two
 * windows take about pace_ns. Any thread may call these functions.
 */
#ifndef TESSERA_PACE_H
#define TESSERA_PACE_H

#include <stdint.h>

/* The ticket of a submission, kept in gate_pass.pace: stream | (device + 1) << 56. */
uintptr_t pace_ticket(unsigned device, uintptr_t stream);

/* A paced submission has returned from the driver. May wait for earlier work of its stream. */
void pace_submission(uintptr_t ticket);

/* A context of the device has ended, so its events no longer exist. */
void pace_forget(unsigned device);

/* In the child of a fork. */
void pace_forked(void);

#endif
