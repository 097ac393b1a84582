do $$ begin execute $q$ create table x (a int); $q$; end $$;
create table y (b int);