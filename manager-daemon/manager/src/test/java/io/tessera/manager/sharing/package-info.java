/** Which way of sharing programs get. */
package io.tessera.manager.sharing;
