package io.tessera.manager.settings;

/** A file of settings is wrong; the message names line and key, and says what is right. */
final class SettingsException extends Exception {
    private static final long serialVersionUID = 1L;

    SettingsException(String message) {
        super(message);
    }
}
