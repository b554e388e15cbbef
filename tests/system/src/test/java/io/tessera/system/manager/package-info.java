/** The manager: its signals, deaths, broken peers, users, and where it keeps segments. */
package io.tessera.system.manager;
