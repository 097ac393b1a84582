do $a$ begin end $b$;
