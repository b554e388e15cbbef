/** Tests of settings that are written down. */
package io.tessera.manager.settings;
